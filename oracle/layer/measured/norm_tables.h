// The weight and the bias of a norm, measured column by column, and then named.
#pragma once

#include <vector>

#include "oracle/layer/measured/norm.h"

namespace sextant::oracle {

// Norms with one deviation of the rows (mean, divisor, which rows), or none, and any weight and
// bias that depend on the column and have a name. Not only the simplest.
std::vector<NormFit> FitNormTables(const NormQuestion& question);

}  // namespace sextant::oracle
