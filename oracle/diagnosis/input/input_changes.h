// Deviations of any operation: an input that is missing, negated, doubled, read in another order
// along an axis, or replaced by another input of the same shape.
#pragma once

#include <string>
#include <vector>

#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

// Of all inputs but integers. Tables that many slices read, such as weights, count as inputs too.
std::vector<Deviation> InputChanges(const Case& c, const Tensors& inputs);

// An input multiplied by a number, each element or each exponential: e^input.
Deviation InputFactor(const Tensors& inputs, const std::string& name, const std::string& phrase);

// One of them, another factor or an added number, or two in different inputs, in an answer of any
// operation.
std::vector<Explanation> MeasureInputs(const Observation& seen);

}  // namespace sextant::oracle
