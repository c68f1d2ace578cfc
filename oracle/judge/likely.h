// What independent roundings hardly exceed in an operation of several, found by sampling.
//
// The worst case of a block adds up what every rounding does as if all pushed the same way, layer
// by layer: it soon exceeds the values, in 16 bits within a block, in f32 within a few. Roots of
// sums of squares would not bound what is likely, since the errors of two elements of a tensor come
// from the same numbers before it. So the recipe is followed kSamples times with each rounding up
// or down by chance (reference/number/stochastic_rounding.h), which keeps what errors have in
// common. With s the root mean square of an element's errors in these runs, the error of one more
// such run exceeds kDeviations s with the probability that Student's t of kSamples degrees of
// freedom has beyond it, 5e-7; that of roundings to nearest, of half the deviation, even less.
// Functions scatter by one ulp; where the recipe claims more for any of them, s counts that many
// times. What is off by less than an ulp is `faithful` whatever s is.
#pragma once

#include <vector>

#include "reference/case/case.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// Lowers `likely` where that is less: of operations of several (IsComposite), but not in f64.
void SampleLikely(const Case& c, const Tensors& inputs, const Recipe& recipe,
                  const std::vector<GoldenTensor>& golden, std::vector<PermittedTensor>& permitted);

}  // namespace sextant::oracle
