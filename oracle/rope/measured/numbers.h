// Measured numbers of rotations: simple ratios, sentences with numbers, and phases.
#pragma once

#include <numbers>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "oracle/diagnosis/measured_number.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {

inline constexpr long double kHalfTurn = std::numbers::pi_v<long double>;  // radians

// SimplestIn, but the reciprocal of an integer if that has fewer digits, and 2 pi or its reciprocal
// if the range excludes numbers of three digits.
double SimplestRatioIn(const LongRange& range);
// True if the number has at most `digits` significant digits.
bool HasFewDigits(double x, int digits);
// True for plus or minus a power of two, or one less or more than that, from 16 on.
bool IsNearPowerOfTwo(double x);

// Joins the parts; numbers are printed in the shortest form that parses to the same number.
template <class... Parts>
std::string Phrase(const Parts&... parts) {
  std::string text;
  const auto add = [&](const auto& part) {
    using Part = std::remove_cvref_t<decltype(part)>;
    if constexpr (std::is_floating_point_v<Part>) {
      text += PrintValue(static_cast<double>(part));
    } else if constexpr (std::is_integral_v<Part>) {
      text += std::to_string(part);
    } else {
      text += part;
    }
  };
  (add(parts), ...);
  return text;
}

// A measured number: as it is if it is plain and hardly in the range by accident, else with its
// error bar.
std::string MeasuredText(double value, const LongRange& range);
// True for integers, numbers with few digits and reciprocals of such.
bool IsPlain(double value);

// An observation of an unknown v: rate v = phase + 2 pi n for some integer n, with an error of
// at most bar + relative |rate v|. Radians; bar >= pi says nothing, bar < 0 that there is no such
// v. If only the cosine or the sine of the angle is known, `twin` is the other phase that has it.
struct PhaseObservation {
  long double rate, phase, bar, relative;
  std::optional<long double> twin{};
  bool Fits(long double v) const;
};
// All v in `range` that fit every observation, as ranges in ascending order; rates differ from 0.
// `most` limits the number of ranges: observations that would need more are used for the ranges
// that the others leave.
std::vector<LongRange> CommonSolutions(std::vector<PhaseObservation> observations,
                                       const LongRange& range, size_t most = 4096);

}  // namespace sextant::oracle
