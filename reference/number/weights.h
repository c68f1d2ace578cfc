// Weight matrices: inputs that are only multiplied by. They may be far larger than all other
// tensors of a formula, so their numbers stay doubles and become a Real where they are used.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reference/number/tensor/tensor.h"

namespace sextant {

// A view of a tensor [rows,width], or of a stack of such tensors along leading axes.
template <class Real>
class Weights {
 public:
  using Element = Real;

  Weights() = default;
  // The tensor must outlive the view.
  explicit Weights(const NamedTensor& tensor)
      : shape(tensor.values.shape), dtype(tensor.dtype), numbers_(tensor.values.data) {}

  // Part i along the first axis.
  Weights Part(size_t i) const {
    Weights part = *this;
    part.shape.erase(part.shape.begin());
    const size_t count = CountOf(part.shape);
    part.numbers_ = numbers_.subspan(i * count, count);
    return part;
  }
  std::span<const double> numbers() const { return numbers_; }
  // Row i of a matrix.
  std::span<const double> Row(size_t i) const { return numbers_.subspan(i * shape[1], shape[1]); }
  std::vector<Real> RowOf(size_t i) const {
    std::vector<Real> row;
    row.reserve(shape[1]);
    for (const double x : Row(i)) row.emplace_back(x, dtype);
    return row;
  }

  Shape shape;
  DType dtype{};

 private:
  std::span<const double> numbers_;
};

}  // namespace sextant
