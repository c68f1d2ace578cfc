#include "oracle/defect/defect.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <sstream>

#include "oracle/defect/shapes.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {

void CopyAttributes(const Case& c, Operation& operation) {
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (attribute.dimension) {
      operation.Set(attribute.name, std::to_string(c.dimensions().at(attribute.name)));
    } else {
      operation.Set(attribute.name, attribute.text);
    }
  }
}

Defect ChangedWord(std::string name, std::string why, std::string word) {
  return ChangedWord(std::move(name), std::move(why), [word](const Case&) { return word; });
}

Defect ChangedWord(std::string name, std::string why, WordOf word) {
  return {std::move(name), std::move(why),
          [word](const Case& c, const Tensors& inputs,
                 const Recipe& recipe) -> std::optional<Hypothesis> {
            const std::string text = word(c);
            if (text.empty()) return std::nullopt;
            try {
              Case changed = c;
              std::istringstream words(text);
              for (std::string one; words >> one;) changed = changed.With(one);
              if (changed.ToString() == c.ToString()) return std::nullopt;
              if (!HasShapes(changed, inputs)) return std::nullopt;
              return Hypothesis{changed.operation().Clone(), SharedInputs::Of(inputs), recipe};
            } catch (const Error&) {
              return std::nullopt;  // the word is not valid in this case
            }
          }};
}

Defect ChangedInputs(std::string name, std::string why, ChangeInputs change) {
  return {std::move(name), std::move(why),
          [change](const Case& c, const Tensors& inputs,
                   const Recipe& recipe) -> std::optional<Hypothesis> {
            Tensors changed = inputs;
            if (!change(c, changed)) return std::nullopt;
            return Hypothesis{c.operation().Clone(), std::move(changed), recipe};
          }};
}

Defect ChangedInputs(std::string name, std::string why, std::vector<std::string> inputs,
                     ChangeInputs change) {
  return {std::move(name), std::move(why),
          [inputs, change](const Case& c, const Tensors& of_case,
                           const Recipe& recipe) -> std::optional<Hypothesis> {
            Tensors changed;
            std::ranges::copy_if(of_case, std::back_inserter(changed), [&](const NamedTensor& t) {
              return std::ranges::find(inputs, t.name) != inputs.end();
            });
            if (changed.size() != inputs.size()) return std::nullopt;  // one is absent
            if (!change(c, changed)) return std::nullopt;
            return Hypothesis{c.operation().Clone(),
                              SharedInputs::With(of_case, std::move(changed)), recipe};
          }};
}

Defect ChangedRecipe(std::string name, std::string why, std::string steps) {
  return {std::move(name), std::move(why),
          [steps](const Case& c, const Tensors& inputs,
                  const Recipe& recipe) -> std::optional<Hypothesis> {
            const Recipe changed = ParseRecipe(steps + " *=T", c.dtype());
            Recipe mixed = recipe;
            std::istringstream words(steps);
            for (std::string word; words >> word;) {
              Step step{};
              ParseValue(SplitWord(word).first, step);
              mixed.steps[static_cast<size_t>(step)] = changed.steps[static_cast<size_t>(step)];
            }
            return Hypothesis{c.operation().Clone(), SharedInputs::Of(inputs), mixed};
          }};
}

Defect AcrossSlices(Defect defect) {
  defect.is_across_slices = true;
  return defect;
}

std::vector<Defect> RemoveDefects(std::initializer_list<std::string_view> names,
                                  std::vector<Defect> defects) {
  std::erase_if(defects, [&](const Defect& defect) {
    return std::ranges::find(names, defect.name) != names.end();
  });
  return defects;
}

Recipe ScopedFormat::RecipeOf(DType format) {
  Recipe recipe{.name = "", .steps = {}};
  recipe.steps.fill({.format = format, .flushes = CurrentRule().flushes});
  return recipe;
}

Tensors Predict(const Hypothesis& hypothesis, const Case& c) {
  return EvaluateByRecipe({c, hypothesis.inputs, hypothesis.recipe, *hypothesis.operation});
}

bool Explains(const Hypothesis& hypothesis, const Case& c, const Recipe& recipe,
              const Tensors& answer, const Slice& slice) {
  const auto& [operation, inputs, its_recipe, across] = hypothesis;
  const Tensors predicted = EvaluateByRecipe({c, inputs.Readers(), its_recipe, *operation}, slice);
  const auto permitted = PermittedErrors({c, inputs.Readers(), recipe, *operation}, slice);
  for (size_t o = 0; o < predicted.size(); ++o) {
    const auto at = std::ranges::find(answer, predicted[o].name, &NamedTensor::name);
    if (at == answer.end()) continue;
    const auto part = ExtractSlice(at->values, c.info().signature.outputs[o], slice);
    for (size_t i = 0; i < part.data.size(); ++i) {
      const double got = part.data[i], expected = predicted[o].values.data[i];
      if (SameNumber(got, expected)) continue;
      const double bound = 2 * permitted[o].error.data[i];
      if (std::isinf(bound) || !(std::abs(got - expected) <= bound)) return false;
    }
  }
  return true;
}

}  // namespace sextant::oracle
