// Other operands of the scores under the weights: queries and keys that are rotated in another way
// or by other positions, another bias.
#pragma once

#include <vector>

#include "oracle/attention/measured/weights.h"
#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// The deviations of the rotation of queries and keys; empty if the operation has none.
std::vector<Deviation> RotationDeviations(const Case& c, const Tensors& inputs);

// Another order of the bias, or a bias with other numbers; empty if the operation has none.
std::vector<Deviation> BiasChanges(const Case& c, const Tensors& inputs);

// Queries or keys that are normed, as in models with QK-norm.
Deviation NormedOperands();

// Models of one such deviation, each with its listed numbers, whose scores explain the weights much
// better than those of `base` do. The most likely first; those that explain them as well follow.
std::vector<Explanation> OtherOperands(const Case& c, const Hypothesis& base,
                                       const AskedWeights& weights,
                                       const std::vector<Deviation>& deviations);

}  // namespace sextant::oracle
