#include "reference/number/tensor/tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "reference/base/error.h"
#include "reference/base/value_text.h"

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

size_t RowWidth(const Shape& shape) {
  return shape.empty() ? 1 : std::max<size_t>(1, shape.back());
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
  const auto at = std::ranges::find(tensors, name, &NamedTensor::name);
  if (at != tensors.end()) return *at;
  throw Error("there is no tensor '", name,
              "'; there are:", NamesText(tensors, &NamedTensor::name));
}

const Tensor<double>* FindValues(const Tensors& tensors, std::string_view name) {
  const auto at = std::ranges::find(tensors, name, &NamedTensor::name);
  return at == tensors.end() ? nullptr : &at->values;
}

bool SameNumber(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

bool SameBits(const Tensors& a, const Tensors& b) {
  return std::ranges::equal(a, b, [](const NamedTensor& x, const NamedTensor& y) {
    const std::vector<double>&p = x.values.data, &q = y.values.data;
    return x.name == y.name && x.dtype == y.dtype && x.values.shape == y.values.shape &&
           (p.empty() || std::memcmp(p.data(), q.data(), p.size() * sizeof(double)) == 0);
  });
}

std::string IndexText(const std::string& name, const Shape& shape, size_t flat) {
  std::vector<size_t> index(shape.size());
  for (size_t axis = shape.size(); axis-- > 0; flat /= shape[axis])
    index[axis] = flat % shape[axis];
  return name + ToString(index);
}

}  // namespace sextant
