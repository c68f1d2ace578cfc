// Fast residual addition with RMSNorm of the sum. The formula: reference/layer/add_rms_norm.h.
#pragma once

#include <cstddef>

#include "fast/simd/element.h"

namespace sextant::fast {

// N rows of M elements, contiguous in all arrays.
struct AddedRows {
  size_t N = 0, M = 0;
  double eps = 1e-5;
  bool unit_offset = false;  // multiply by 1 + weight
};

template <Element T>
struct AddedOutputs {
  T *y, *sum;
};

// sum = x + residual, rounded to T; y = sum / sqrt(mean(sum^2) + eps) * weight, with the rounded
// sum. y and sum are different arrays; each is x or residual, or overlaps neither of them. Error of
// y: that of NormalizeRows (rms_norm.h) on sum; sum is correctly rounded.
template <Element T>
void AddAndNormalizeRows(const AddedRows& rows, const T* x, const T* residual,
                         const Computed<T>* weight, AddedOutputs<T> out);

}  // namespace sextant::fast
