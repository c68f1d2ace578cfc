// A residual added and the sum normalised, for speed. The formula: reference/layer/add_rms_norm.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// Rows of M neighbouring elements, one after the other in every array.
struct AddedRows {
  size_t N = 0, M = 0;
  double eps = 1e-5;
  bool unit_offset = false;  // the weight is 1 + weight
};

template <Element T>
struct AddedOutputs {
  T *y, *sum;
};

// sum = x + residual, rounded to T; y = sum / sqrt(mean(sum^2) + eps) * weight, of the rounded sum.
// Of y and sum each is x or residual, or memory that neither touches; they are not the same.
// Error of y: as NormalizeRows (rms_norm.h) on sum; sum is correctly rounded. The sum is formed
// twice rather than written and read again.
template <Element T>
void AddAndNormalizeRows(const AddedRows& rows, const T* x, const T* residual,
                         const Computed<T>* weight, AddedOutputs<T> out) noexcept;

}  // namespace sextant::fast
