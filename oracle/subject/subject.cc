#include "oracle/subject/subject.h"

#include <algorithm>

#include "oracle/catalog/oracle.h"
#include "oracle/defect/blind_spot.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

Subject RecipeSubject(const std::string& recipe) {
  ParseRecipe(recipe, DType::kF32);  // an unknown one is an error now, not at the first case
  return {"recipe:" + recipe, recipe, [recipe](const Case& c, const Tensors& inputs) {
            return Answer{.message = "",
                          .outputs = AnswerBy(c, inputs, ParseRecipe(recipe, c.dtype()))};
          }};
}

namespace {

Subject BlindSubject(const std::string& operation, const BlindSpot& spot) {
  return {"defect:" + operation + "/" + spot.name, "native",
          [operation, spot](const Case& c, const Tensors& inputs) {
            Answer answer{.message = "",
                          .outputs = AnswerBy(c, inputs, ParseRecipe("native", c.dtype()))};
            if (c.name() != operation) return answer;
            auto losses = spot.losses(c, inputs, answer.outputs);
            if (!losses.empty()) answer.outputs = std::move(losses[0]);
            return answer;
          }};
}

}  // namespace

Subject DefectSubject(const std::string& operation_and_defect) {
  const size_t slash = operation_and_defect.find('/');
  if (slash == std::string::npos)
    throw Error("'", operation_and_defect, "' is not OPERATION/DEFECT");
  const std::string operation = operation_and_defect.substr(0, slash);
  const std::string name = operation_and_defect.substr(slash + 1);
  const auto& defects = OracleOf(operation).defects;
  const auto& blind_spots = BlindSpotsOf(std::string_view(operation));
  const auto spot = std::ranges::find(blind_spots, name, &BlindSpot::name);
  if (spot != blind_spots.end()) return BlindSubject(operation, *spot);
  const auto at = std::ranges::find(defects, name, &Defect::name);
  if (at == defects.end()) {
    std::string exist;
    for (const Defect& defect : defects) {
      exist += " ";
      exist += defect.name;
    }
    throw Error(operation, " has no defect '", name, "'; it has:", exist);
  }
  return {"defect:" + operation_and_defect, "native",
          [operation, defect = *at](const Case& c, const Tensors& inputs) {
            const Recipe recipe = ParseRecipe("native", c.dtype());
            std::optional<Hypothesis> hypothesis;
            if (c.name() == operation) hypothesis = defect.hypothesis(c, inputs, recipe);
            return Answer{
                .message = "",
                .outputs = hypothesis ? Predict(*hypothesis, c) : AnswerBy(c, inputs, recipe)};
          }};
}

std::string Misfit(const Case& c, const Tensors& outputs) {
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const auto at = std::ranges::find(outputs, spec.name, &NamedTensor::name);
    if (at == outputs.end()) {
      if (spec.optional) continue;
      return "it has no output '" + spec.name + "'";
    }
    const Shape shape = c.ShapeOf(spec);
    if (at->values.shape != shape) {
      return spec.name + " has shape " + ToString(at->values.shape) + ", expected " +
             ToString(shape);
    }
    if (at->dtype != c.DTypeOf(spec)) {
      std::string text = spec.name + " is ";
      text += NameOf(at->dtype);
      text += ", expected ";
      text += NameOf(c.DTypeOf(spec));
      return text;
    }
  }
  return "";
}

}  // namespace sextant::oracle
