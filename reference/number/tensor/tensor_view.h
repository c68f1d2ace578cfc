// A tensor in memory that belongs to somebody else: any element type, any strides.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant {

// The dtypes, with the same numbers, and other integers.
enum class ElementType {
  kF64,
  kF32,
  kF16,
  kBF16,
  kI8 = static_cast<int>(DType::kI8),
  kI64 = static_cast<int>(DType::kI64),
  kI32,
  kI16,
  kU64,
  kU32,
  kU16,
  kU8
};
constexpr ElementType ElementTypeOf(DType type) { return static_cast<ElementType>(type); }
constexpr auto NamesOf(ElementType) {
  std::array<std::string_view, static_cast<size_t>(ElementType::kU8) + 1> names = {};
  const auto rest = std::ranges::transform(kDTypes, names.begin(), NameOf).out;
  std::ranges::copy(std::to_array<std::string_view>({"i32", "i16", "u64", "u32", "u16", "u8"}),
                    rest);
  return names;
}
size_t SizeOf(ElementType type);  // bytes of one element
DType DTypeOf(ElementType type);  // i64 for all integers but i8
// The type of the elements in HDF5 and .npz. These have no bf16, which is stored as f32, and no
// floats of 8 and 4 bits and no i4, whose bit patterns are stored as u8. An attribute then names
// the dtype.
ElementType StoredAs(DType type);

struct TensorView {
  const void* data = nullptr;  // the element with index 0 on every axis; little-endian
  ElementType type = ElementType::kF32;
  Shape shape{};
  std::vector<int64_t> strides{};  // in elements, one per axis; may be 0 or negative
};

// The strides of a dense row-major tensor.
std::vector<int64_t> RowMajorStrides(const Shape& shape);

// The values in row-major order. Throws Error at an integer above 2^53 in magnitude.
Tensor<double> ValuesOf(const TensorView& view);

// The same tensor with its axes in another order: axis i of the result is axis order[i] of the
// view. kNewAxis stands for an axis of extent 1.
inline constexpr size_t kNewAxis = SIZE_MAX;
TensorView Reordered(const TensorView& view, const std::vector<size_t>& order);

}  // namespace sextant
