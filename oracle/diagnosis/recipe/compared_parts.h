// Parts of answers, compared with what a recipe answers itself.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "oracle/diagnosis/recipe/recipe_search.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {

struct ComparedPart {
  const JudgedAnswer* answer;
  Slice slice;
};

// Small slices, spread over at most 48 of the answers and over each of those. Their work (work.h)
// is at most `most_work`, but there is one part at least if there is an answer.
std::vector<ComparedPart> PartsOf(std::span<const JudgedAnswer> answers, size_t most_work);

// An answered element: the answer, that of the recipe, and the exact value.
struct OwnElement {
  double given, own, exact;
  bool fails;   // by the start; never where no value is specified, or nothing is permitted
  DType dtype;  // of the output
};
// Calls use(element) for the answered elements of the part until it returns false. Returns false
// then.
using UseElement = std::function<bool(const OwnElement& element)>;
bool ForEachOwn(const ComparedPart& part, const Recipe& recipe, const UseElement& use);

}  // namespace sextant::oracle
