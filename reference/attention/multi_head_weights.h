// The weights and biases of multi-head attention by their names in the signatures of
// cross_attention and encoder_block. Visit: reference/case/operation.h.
#pragma once

#include "reference/number/tensor/tensor.h"
#include "reference/number/weights.h"

namespace sextant {

template <class Matrix, class Bias>
struct MultiHeadWeightsOf {
  Matrix wq, wk, wv, wo;
  Bias bq, bk, bv, bo;

  void Visit(auto&& v) {
    v("wq", wq);
    v("wk", wk);
    v("wv", wv);
    v("wo", wo);
    v("bq", bq);
    v("bk", bk);
    v("bv", bv);
    v("bo", bo);
  }
};
template <class Real>
using MultiHeadWeights = MultiHeadWeightsOf<Tensor<Real>, Tensor<Real>>;

}  // namespace sextant
