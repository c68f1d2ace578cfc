#include "reference/number/tensor/tensor_view.h"

#include <cstring>

#include "reference/base/error.h"

namespace sextant {
namespace {

template <class T>
T Load(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class Integer>
double IntegerAt(const void* at) {
  const auto value = Load<Integer>(at);
  if constexpr (sizeof(Integer) == 8) {
    constexpr auto kMost = static_cast<Integer>(kLargestInteger);
    if (value > kMost || (value < 0 && value < static_cast<Integer>(-kLargestInteger)))
      throw Error("has the integer ", value, ", expected at most 2^53 in magnitude");
  }
  return static_cast<double>(value);
}

struct Element {
  size_t size;
  DType dtype;
  double (*read)(const void* at);
};
constexpr Element kElements[] = {
    {8, DType::kF64, [](const void* at) { return Load<double>(at); }},
    {4, DType::kF32, [](const void* at) { return static_cast<double>(Load<float>(at)); }},
    {2, DType::kF16, [](const void* at) { return DecodeBits(DType::kF16, Load<uint16_t>(at)); }},
    {2, DType::kBF16, [](const void* at) { return DecodeBits(DType::kBF16, Load<uint16_t>(at)); }},
    {8, DType::kI64, IntegerAt<int64_t>},
    {4, DType::kI64, IntegerAt<int32_t>},
    {2, DType::kI64, IntegerAt<int16_t>},
    {1, DType::kI64, IntegerAt<int8_t>},
    {8, DType::kI64, IntegerAt<uint64_t>},
    {4, DType::kI64, IntegerAt<uint32_t>},
    {2, DType::kI64, IntegerAt<uint16_t>},
    {1, DType::kI64, IntegerAt<uint8_t>}};
const Element& ElementOf(ElementType type) { return kElements[static_cast<size_t>(type)]; }

}  // namespace

size_t SizeOf(ElementType type) { return ElementOf(type).size; }
DType DTypeOf(ElementType type) { return ElementOf(type).dtype; }
// The first element types are the dtypes.
ElementType ElementTypeOf(DType type) { return static_cast<ElementType>(type); }

std::vector<int64_t> RowMajorStrides(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  size_t stride = 1;  // wraps around only where another extent is 0
  for (size_t axis = shape.size(); axis-- > 0;) {
    strides[axis] = static_cast<int64_t>(stride);
    stride *= shape[axis];
  }
  return strides;
}

Tensor<double> ValuesOf(const TensorView& view) {
  const Element& element = ElementOf(view.type);
  const auto size = static_cast<int64_t>(element.size);
  Tensor<double> values(view.shape);
  std::vector<size_t> index(view.shape.size());
  const auto* at = static_cast<const std::byte*>(view.data);
  int64_t offset = 0;
  for (double& value : values.data) {
    value = element.read(at + offset * size);
    for (size_t axis = index.size(); axis-- > 0;) {
      offset += view.strides[axis];
      if (++index[axis] < view.shape[axis]) break;
      offset -= view.strides[axis] * static_cast<int64_t>(view.shape[axis]);
      index[axis] = 0;
    }
  }
  return values;
}

TensorView Reordered(const TensorView& view, const std::vector<size_t>& order) {
  TensorView reordered{view.data, view.type, {}, {}};
  for (const size_t axis : order) {
    reordered.shape.push_back(axis == kNewAxis ? 1 : view.shape[axis]);
    reordered.strides.push_back(axis == kNewAxis ? 0 : view.strides[axis]);
  }
  return reordered;
}

}  // namespace sextant
