#include "oracle/subject/subject.h"

#include <algorithm>

#include "reference/prove/prove.h"

namespace sextant::oracle {

Subject RecipeSubject(const std::string& recipe) {
  ParseRecipe(recipe, DType::kF32);  // throws now and not at the first case
  return {"recipe:" + recipe, recipe, [recipe](const Case& c, const Tensors& inputs) {
            return Answer{.message = "",
                          .outputs = EvaluateByRecipe({c, inputs, ParseRecipe(recipe, c.dtype())})};
          }};
}

std::string DescribeMismatch(const Case& c, const Tensors& outputs) {
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
