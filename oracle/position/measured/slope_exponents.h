// Other exponents of the slopes of ALiBi: head h has the slope 2^-e(h).
#pragma once

#include <string>
#include <vector>

namespace sextant::oracle {

struct NamedExponents {
  std::string text;  // "rounded down to integers"
  std::vector<double> of;
};
// Those that implementations have instead of the right ones, for heads whose number is no power of
// two above all. `right`: those of the formula.
std::vector<NamedExponents> OtherExponents(const std::vector<double>& right, double max_bias);

}  // namespace sextant::oracle
