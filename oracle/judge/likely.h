// Monte Carlo error bound for composite operations.
//
// The worst-case bound of a block assumes that all roundings of all layers have the same sign. It
// soon exceeds the values: in 16 bits within one block, in f32 within a few. The root of the sum of
// squares is no valid bound either, because the errors of two elements of a tensor are correlated:
// they depend on the same earlier tensors. So the recipe is evaluated kSamples times with
// stochastic rounding (reference/number/rounded/stochastic_rounding.h), which keeps these
// correlations. Let s be the root mean square of an element's error in these runs. The error of one
// more run exceeds kDeviations s with probability 5e-7 (Student's t with kSamples degrees of
// freedom). With rounding to nearest, whose standard deviation is half as large, the probability is
// smaller still. The sampled errors of functions are one ulp. If the recipe claims more ulps for
// any function, s is multiplied by the largest claim. An error below one ulp is `faithful` whatever
// s is.
#pragma once

#include <vector>

#include "reference/case/case.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// Lowers `likely` to the sampled bound where that is smaller. Does nothing for operations that are
// not composite (IsComposite) and for f64. threads: 0 for all cores.
void SampleLikely(const Case& c, const Tensors& inputs, const Recipe& recipe,
                  const std::vector<GoldenTensor>& golden, std::vector<PermittedTensor>& permitted,
                  int threads);

}  // namespace sextant::oracle
