#include "oracle/catalog/refuting_cases.h"

#include <algorithm>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/defect.h"
#include "oracle/judge/judge.h"
#include "reference/base/error.h"
#include "reference/case/draw.h"
#include "reference/case/out_of_memory.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

constexpr size_t kLargestCase = 8192, kMostCases = 32;

bool Refutes(const Case& c, const Defect& defect, const Recipe& recipe) {
  const Tensors inputs = DrawInputs(c);
  const auto hypothesis = defect.hypothesis(c, inputs, recipe);
  if (!hypothesis) return false;
  const Judge judge(c, inputs, recipe, ProveOptions(), Judge::Grading::kPassOrFail);
  return judge.Evaluate(Predict(*hypothesis, c)).status == Verdict::Status::kFails;
}

}  // namespace

size_t CountRefuting(const std::string& operation, const std::string& defect,
                     const std::vector<Case>& conforming, const std::string& recipe) {
  std::vector<const Case*> small;
  for (const Case& c : conforming)
    if (ElementsOf(c) <= kLargestCase) small.push_back(&c);
  const size_t count = std::min(small.size(), kMostCases);
  size_t refuting = 0;
  for (size_t i = 0; i < count; ++i) {
    const Case& c = *small[i * small.size() / count];
    try {
      refuting += Refutes(c, DefectNamed(operation, defect), ParseRecipe(recipe, c.dtype()));
    } catch (const Error&) {  // no defect has that name, or the inputs are in a file
    }
  }
  return refuting;
}

}  // namespace sextant::oracle
