// What a softmax of rows computes, measured from its answers.
#pragma once

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// Exponents with a factor (another base, a temperature), columns that are not read, sums over parts
// of a row, exponents that are limited, numbers added to the sum, the logarithm of the result.
std::vector<Explanation> MeasureSoftmax(const Observation& seen);

}  // namespace sextant::oracle
