// The divisor of a normed row, and what a measured divisor says about eps and the count.
#pragma once

#include <vector>

#include "oracle/layer/measured/constant.h"
#include "oracle/layer/measured/norm_formula.h"
#include "oracle/layer/measured/row_sums.h"

namespace sextant::oracle {

// D, for a mean square.
double DivisorOf(const Norm& norm, double square);

// The same of a row with these sums.
double DivisorOf(const Norm& norm, const Sums& sums);

// What is added to an element of column j with the weight w.
double BiasOf(const Norm& norm, double w, const std::vector<double>& bias, size_t j);

// kFactor: of y.
enum class FreeNumber { kNothing, kEps, kCount, kPower, kFactor };
double& NumberOf(Norm& norm, FreeNumber free);

// The values of eps, the count or the power for which the sum of squares gives a divisor in the
// range. Without a free number: every value, or none.
Range AllowedBy(const Norm& norm, double sum, const Range& divisor, FreeNumber free);

}  // namespace sextant::oracle
