// Norms whose rows have another mean, or another divisor, than those that `norm.h` knows: other
// statistics of the row, or the numbers that the answer shows.
#pragma once

#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// For rms_norm and layer_norm: y_j = (x_j - m) / d w_j + b_j, with m and d fitted to each row.
// Nothing if rows are not of that form, or if m and d differ from the right ones by no more than
// sums in bf16 do.
std::vector<Explanation> MeasureRowStatistics(const Observation& seen);

}  // namespace sextant::oracle
