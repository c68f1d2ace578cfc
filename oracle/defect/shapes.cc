#include "oracle/defect/shapes.h"

#include <algorithm>

namespace sextant::oracle {

bool HasShapes(const Case& c, const Tensors& inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (c.ShapeOf(c.info().signature.inputs[i]) != inputs[i].values.shape) return false;
  }
  return true;
}

bool DependOn(const std::vector<TensorSpec>& tensors, const std::string& name) {
  return std::ranges::any_of(tensors, [&](const TensorSpec& tensor) {
    return std::ranges::any_of(tensor.extents, [&](const std::string& extent) {
      const std::vector<std::string> names = ParseExtent(extent).names;
      return std::ranges::find(names, name) != names.end();
    });
  });
}

}  // namespace sextant::oracle
