#include "reference/number/tensor.h"

#include <limits>

#include "reference/base/error.h"

namespace sextant {

size_t CountOf(const Shape& shape) {
  size_t count = 1;
  for (const size_t extent : shape) {
    if (extent != 0 && count > std::numeric_limits<size_t>::max() / 64 / extent) {
      throw Error("a tensor of shape ", ToString(shape), " does not fit into memory");
    }
    count *= extent;
  }
  return count;
}

std::string ToString(const Shape& shape) {
  std::string text = "[";
  for (const size_t extent : shape) {
    if (text.size() > 1) text += ",";
    text += std::to_string(extent);
  }
  text += "]";
  return text;
}

const NamedTensor& Find(const Tensors& tensors, const std::string& name) {
  std::string exist;
  for (const NamedTensor& tensor : tensors) {
    if (tensor.name == name) return tensor;
    exist += " ";
    exist += tensor.name;
  }
  throw Error("there is no tensor '", name, "'; there are:", exist);
}

}  // namespace sextant
