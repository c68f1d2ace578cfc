// The deviations of measured norms in words, and the known constants.
#pragma once

#include <string>
#include <vector>

#include "oracle/layer/measured/constant.h"
#include "oracle/layer/measured/divisor.h"
#include "oracle/layer/measured/norm.h"

namespace sextant::oracle {

// Numbers that implementations have. `eps` is that of the case, M the width of a row.
std::vector<Constant> NamedNumbers(FreeNumber free, double eps, size_t M);

// Numbers by which a sum over M columns is divided: 1, M - 1, the width of whole vectors ...
std::vector<Constant> NamedCounts(size_t M);
// Those by which a mean is divided.
std::vector<double> CountsOf(size_t M);

struct NumberText {
  FreeNumber free;
  std::string text;
  std::string added = {};  // to the weight
};
// Sets the name, the sentence and the number of deviations of fit.norm from the right norm, whose
// rows, or parts of rows, have M columns.
void Describe(const Norm& right, size_t M, const NumberText& measured, NormFit& fit);

// The deviation whose rows read the weight from another column on: `step` columns for each row.
inline constexpr const char* kWeightOfRow = "weight_of_row";
std::string WeightOfRowText(int step);

}  // namespace sextant::oracle
