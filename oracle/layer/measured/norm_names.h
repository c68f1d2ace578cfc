// The deviations of measured norms in words, and the constants of the field.
#pragma once

#include <string>
#include <vector>

#include "oracle/layer/measured/constant.h"
#include "oracle/layer/measured/norm.h"

namespace sextant::oracle {

// Values of eps that implementations have. `eps` is that of the case, M the width of a row.
std::vector<Constant> NamedEps(double eps, size_t M);

// Numbers by which a sum over M columns is divided: 1, M - 1, the width of whole vectors ...
std::vector<Constant> NamedCounts(size_t M);
// Those by which a mean is divided.
std::vector<double> CountsOf(size_t M);

// Sets the name, the sentence and the number of deviations of fit.norm from the right norm.
// `constant` is the text of the measured eps or count, if there is one.
void Describe(const Norm& right, size_t M, const std::string& constant, NormFit& fit);

}  // namespace sextant::oracle
