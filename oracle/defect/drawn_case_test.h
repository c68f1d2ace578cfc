// A case with its inputs and a recipe, and the matchers of what is said of it, for tests.
#pragma once

#include <gmock/gmock.h>

#include <optional>
#include <string>
#include <vector>

#include "oracle/audit/audit.h"
#include "oracle/defect/defect.h"
#include "reference/case/draw.h"
#include "reference/case/out_of_memory.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;
using testing::UnorderedElementsAre;

// The committed cases of the operation that are not large: in these each of its defects takes long.
inline std::vector<CaseLine> SmallCasesOf(const std::string& operation) {
  std::vector<CaseLine> lines = ReadCaseLines("fixtures/cases/" + operation + ".cases");
  std::erase_if(
      lines, [](const CaseLine& line) { return ElementsOf(Case::Parse(line.text)) > kLargeCase; });
  return lines;
}

struct DrawnCase {
  explicit DrawnCase(const std::string& line, const std::string& recipe_text = "native")
      : c(Case::Parse(line)), inputs(DrawInputs(c)), recipe(ParseRecipe(recipe_text, c.dtype())) {}
  operator Evaluation() const { return {c, inputs, recipe}; }
  // The answer by the recipe.
  Tensors CorrectAnswer() const { return EvaluateByRecipe(*this); }
  std::optional<Hypothesis> Of(const Defect& defect) const {
    return defect.hypothesis(c, inputs, recipe);
  }
  Tensors Predicted(const Defect& defect) const { return Predict(Of(defect).value(), c); }

  Case c;
  Tensors inputs;
  Recipe recipe;
};

}  // namespace sextant::oracle
