#include "oracle/defect/shapes.h"

#include <algorithm>

namespace sextant::oracle {

bool HasShapes(const Case& c, const Tensors& inputs) {
  return std::ranges::all_of(c.signature().inputs, [&](const TensorSpec& spec) {
    const auto at = std::ranges::find(inputs, spec.name, &NamedTensor::name);
    return at != inputs.end() && c.ShapeOf(spec) == at->values.shape;
  });
}

bool DependOn(const Signature& signature, const std::string& name) {
  const auto depends = [&](const TensorSpec& tensor) {
    return std::ranges::any_of(tensor.extents, [&](const std::string& extent) {
      const std::vector<std::string> names = ParseExtent(extent).names;
      return std::ranges::find(names, name) != names.end();
    });
  };
  return std::ranges::any_of(signature.inputs, depends) ||
         std::ranges::any_of(signature.outputs, depends);
}

bool ReadsMore(const Operation& operation, const Operation& than) {
  return std::ranges::any_of(operation.info().signature.inputs, [&](const TensorSpec& input) {
    return input.optional && operation.Reads(input.name) && !than.Reads(input.name);
  });
}

}  // namespace sextant::oracle
