// ALiBi in factors: every bias is the product of a number of its head and one of its query and key.
// Each is measured by itself, so that several wrong ones are found together.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// Slopes that are computed from the index of the head, whatever the input has:
// 2^-(largest (h + first) / H).
struct SlopeFormula {
  double largest, first;
  double At(size_t h, size_t H) const {
    return std::exp2(-largest * (static_cast<double>(h) + first) / static_cast<double>(H));
  }
  std::string Text() const;
};
inline constexpr std::array<SlopeFormula, 6> kSlopeFormulas = {
    {{8, 0}, {8, 1}, {8, 2}, {4, 1}, {16, 1}, {8, 0.5}}};

std::vector<Explanation> MeasureFactorsOfBias(const Observation& seen);

}  // namespace sextant::oracle
