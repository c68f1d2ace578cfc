// The norms that give an answer, among those with the order of columns and the parts of rows of a
// question.
#pragma once

#include <vector>

#include "oracle/layer/measured/norm.h"

namespace sextant::oracle {

// kOwnRows: each row has its own sums, and the center is the right one. kAllCenters: any center.
enum class Among { kOwnRows, kAllCenters, kAllRows };

// Not only the simplest. Their deviations are from the right norm of the question.
std::vector<NormFit> FitRows(const NormQuestion& question, Among among);

}  // namespace sextant::oracle
