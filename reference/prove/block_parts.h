// Parts of composite operations, for every number type: sums as stored, and the layouts of heads.
#pragma once

#include <string_view>
#include <utility>

#include "reference/case/intermediate.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

template <class Real>
Tensor<Real> StoredSum(const Tensor<Real>& a, const Tensor<Real>& b) {
  const ScopedStep at(Step::kKeep);
  Tensor<Real> sum = a;
  for (size_t i = 0; i < sum.data.size(); ++i) sum.data[i] = a.data[i] + b.data[i];
  return sum;
}

// [S,H*D] to [1,H,S,D], and the inverse.
template <class Real>
Tensor<Real> SplitHeads(const Tensor<Real>& x, size_t heads) {
  const size_t S = x.shape[0], D = heads == 0 ? 0 : x.shape[1] / heads;
  Tensor<Real> y({1, heads, S, D});
  for (size_t h = 0; h < heads; ++h) {
    for (size_t s = 0; s < S; ++s) {
      for (size_t d = 0; d < D; ++d) y(0, h, s, d) = x(s, h * D + d);
    }
  }
  return y;
}
template <class Real>
Tensor<Real> MergeHeads(const Tensor<Real>& x) {
  const size_t H = x.shape[1], S = x.shape[2], D = x.shape[3];
  Tensor<Real> y({S, H * D});
  for (size_t h = 0; h < H; ++h) {
    for (size_t s = 0; s < S; ++s) {
      for (size_t d = 0; d < D; ++d) y(s, h * D + d) = x(0, h, s, d);
    }
  }
  return y;
}

}  // namespace sextant
