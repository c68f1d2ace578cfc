// The verdict on an answer by another recipe than the one by which it was judged.
#pragma once

#include <optional>
#include <string>

#include "oracle/diagnosis/recipe/recipe_search.h"

namespace sextant::oracle {

inline bool Fails(const JudgedAnswer& answer) {
  return answer.verdict.status == Verdict::Status::kFails;
}

// Elements that could have failed.
size_t JudgedElements(const Verdict& verdict);
// The same for the verdict by the start, in proportion to the elements of a sample.
size_t JudgedBefore(const Verdict& verdict, const std::optional<Sample>& sample);

// True if the answer fails by the recipe `start`, and all wrong elements are outliers, which no
// recipe explains.
bool HasOutliers(const JudgedAnswer& answer, const std::string& start);

// Empty if the answer fails by the recipe: of a large case some slices are judged first. Whether
// errors are likely is not looked at. Throws Error for a wrong recipe.
std::optional<Verdict> ConformingVerdict(const JudgedAnswer& answer, const std::string& recipe,
                                         const RecipeSearch& search);

}  // namespace sextant::oracle
