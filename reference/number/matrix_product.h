// Products of rows with the rows of a matrix, for every number type: step dot.
#pragma once

#include "reference/number/tensor/tensor.h"
#include "reference/number/weights.h"

namespace sextant {

// y[n,f] = sum_m x[n,m] weight[f,m]: x [N,M], weight [F,M], y [N,F], already allocated. Each is the
// number that Dot gives (dot.h), with one exception: Rounded numbers under stochastic rounding
// (rounded_dot.h). Uses the threads of InParallelHere; the result does not depend on their number.
template <class Real>
void MultiplyByWeights(const Tensor<Real>& x, const Weights<Real>& weight, Tensor<Real>& y);

// The same for a computed weight, by Dot and on one thread.
template <class Real>
void MultiplyByRows(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y);

}  // namespace sextant
