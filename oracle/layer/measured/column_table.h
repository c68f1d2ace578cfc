// Numbers that were measured for each column, and a name for them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/layer/measured/constant.h"

namespace sextant::oracle {

struct NamedTable {
  std::vector<double> numbers;
  Deviations deviations;  // none for the right numbers
};

// What the numbers of `what`, one of each column, are, given the right ones: these, or those of
// other columns, or known functions of them, everywhere or in some columns. Empty if no name fits.
// `factors`: of the same columns, that a bias may be multiplied by; empty: none.
std::optional<NamedTable> NameTable(const std::vector<MeasuredNumber>& measured,
                                    const std::vector<double>& right,
                                    const std::vector<double>& factors, const std::string& what);

}  // namespace sextant::oracle
