// A case with its inputs and a recipe, for tests.
#pragma once

#include <optional>
#include <string>

#include "oracle/defect/defect.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

struct DrawnCase {
  explicit DrawnCase(const std::string& line, const std::string& recipe_text = "native")
      : c(Case::Parse(line)), inputs(DrawInputs(c)), recipe(ParseRecipe(recipe_text, c.dtype())) {}
  // The answer by the recipe.
  Tensors CorrectAnswer() const { return EvaluateByRecipe(c, inputs, recipe); }
  std::optional<Hypothesis> Of(const Defect& defect) const {
    return defect.hypothesis(c, inputs, recipe);
  }
  Tensors Predicted(const Defect& defect) const { return Predict(Of(defect).value(), c); }

  Case c;
  Tensors inputs;
  Recipe recipe;
};

}  // namespace sextant::oracle
