// Dense row-major tensors of any number type, and tensors with a name and a dtype.
#pragma once

#include <cassert>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/number/tensor/dtype.h"

namespace sextant {

using Shape = std::vector<size_t>;  // empty for a scalar

// Number of elements; throws Error if it does not fit size_t.
size_t CountOf(const Shape& shape);
// Length of the last axis; 1 if there is no axis or if its length is 0.
size_t RowWidth(const Shape& shape);
std::string ToString(const Shape& shape);  // "[2,3]"
// "y[0,1,2]" for a flat row-major index.
std::string IndexText(const std::string& name, const Shape& shape, size_t flat);

template <class T>
struct Tensor {
  using Element = T;

  Shape shape;
  std::vector<T> data;  // row-major, CountOf(shape) elements

  Tensor() : data(1) {}
  explicit Tensor(Shape s) : shape(std::move(s)), data(CountOf(shape)) {}
  Tensor(Shape s, std::vector<T> values) : shape(std::move(s)), data(std::move(values)) {
    assert(data.size() == CountOf(shape));
  }

  template <class... Index>
  T& operator()(Index... index) {
    return data[Offset(index...)];
  }
  template <class... Index>
  const T& operator()(Index... index) const {
    return data[Offset(index...)];
  }

 private:
  template <class... Index>
  size_t Offset(Index... index) const {
    assert(sizeof...(index) == shape.size());
    size_t offset = 0, axis = 0;
    ((assert(static_cast<size_t>(index) < shape[axis]),
      offset = offset * shape[axis++] + static_cast<size_t>(index)),
     ...);
    return offset;
  }
};

// A tensor whose values are exact values of `dtype`.
struct NamedTensor {
  std::string name;
  DType dtype = DType::kF32;
  Tensor<double> values;
};
using Tensors = std::vector<NamedTensor>;

// The tensor of that name. Throws Error with the names that exist.
const NamedTensor& Find(const Tensors& tensors, const std::string& name);
// The values of the tensor of that name; null if there is none.
const Tensor<double>* FindValues(const Tensors& tensors, std::string_view name);

// True if equal (0 equals -0) or both NaN.
bool SameNumber(double a, double b);
// True if names, dtypes, shapes and bits are the same, in the same order.
bool SameBits(const Tensors& a, const Tensors& b);

}  // namespace sextant
