#include "reference/number/tensor/tensor_view.h"

#include <cstdlib>
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
double IntegerAt(DType, const void* at) {
  const auto value = Load<Integer>(at);
  if constexpr (sizeof(Integer) == 8) {
    constexpr auto kMost = static_cast<Integer>(kLargestInteger);
    if (value > kMost || (value < 0 && value < static_cast<Integer>(-kLargestInteger)))
      throw Error("has the integer ", value, ", expected at most 2^53 in magnitude");
  }
  return static_cast<double>(value);
}

template <class Bits>
double FloatAt(DType type, const void* at) {
  return DecodeBits(type, Load<Bits>(at));
}

struct Element {
  size_t size;
  DType dtype;
  double (*value_at)(DType dtype, const void* at);
};

Element ElementOf(ElementType type) {
  constexpr auto of = []<class Integer>(Integer) {
    return Element{sizeof(Integer), DType::kI64, IntegerAt<Integer>};
  };
  constexpr Element kIntegers[] = {of(int64_t()),  of(int32_t()),  of(int16_t()), of(uint64_t()),
                                   of(uint32_t()), of(uint16_t()), of(uint8_t())};
  if (type >= ElementType::kI64)
    return kIntegers[static_cast<size_t>(type) - static_cast<size_t>(ElementType::kI64)];
  const auto dtype = static_cast<DType>(type);
  return WithBitsOf(dtype, [&](auto bits) {
    return Element{sizeof(bits), dtype, FloatAt<decltype(bits)>};
  });
}

}  // namespace

size_t SizeOf(ElementType type) { return ElementOf(type).size; }
DType DTypeOf(ElementType type) { return ElementOf(type).dtype; }

ElementType StoredAs(DType type) {
  switch (RowOf(type).hdf5) {
    case InHdf5::kItself:
      return ElementTypeOf(type);
    case InHdf5::kF32:
      return ElementType::kF32;
    case InHdf5::kBits:
      return ElementType::kU8;
  }
  std::abort();
}

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
  const Element element = ElementOf(view.type);
  const auto size = static_cast<int64_t>(element.size);
  Tensor<double> values(view.shape);
  std::vector<size_t> index(view.shape.size());
  const auto* at = static_cast<const std::byte*>(view.data);
  int64_t offset = 0;
  for (double& value : values.data) {
    value = element.value_at(element.dtype, at + offset * size);
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
