// What blocks of several operations do between these, over any number type: sums and tensors that
// are handed on, and heads side by side or apart.
#pragma once

#include <string_view>
#include <utility>

#include "reference/number/tensor.h"
#include "reference/prove/trace.h"

namespace sextant {

// As one operation hands it to the next.
template <class Real>
Tensor<Real> Kept(Tensor<Real> x) {
  const InStep at(Step::kKeep);
  for (Real& value : x.data) value = Converted(value);
  return x;
}

template <class Real>
Tensor<Real> SumKept(const Tensor<Real>& a, const Tensor<Real>& b) {
  const InStep at(Step::kKeep);
  Tensor<Real> sum = a;
  for (size_t i = 0; i < sum.data.size(); ++i) sum.data[i] = a.data[i] + b.data[i];
  return sum;
}

// [S,H*D] as [1,H,S,D], and back.
template <class Real>
Tensor<Real> HeadsOf(const Tensor<Real>& x, size_t heads) {
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
Tensor<Real> HeadsTogether(const Tensor<Real>& x) {
  const size_t H = x.shape[1], S = x.shape[2], D = x.shape[3];
  Tensor<Real> y({S, H * D});
  for (size_t h = 0; h < H; ++h) {
    for (size_t s = 0; s < S; ++s) {
      for (size_t d = 0; d < D; ++d) y(s, h * D + d) = x(0, h, s, d);
    }
  }
  return y;
}

// The output `name` becomes x; what the next operation goes on from has x's shape.
template <class Real>
Tensor<Real> HandedAs(std::string_view name, Tensor<Real> x, Tensor<Real>& output) {
  output.data = std::move(x.data);
  Tensor<Real> next = Handed(name, output);
  next.shape = std::move(x.shape);
  return next;
}

}  // namespace sextant
