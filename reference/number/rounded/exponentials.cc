// Exponentials of Rounded: by double precision where it decides the rounding to few bits.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "reference/number/double_double/double_double_functions.h"
#include "reference/number/double_double/exponential_rows.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/number/rounded/rounded.h"
#include "reference/number/rounded/step_format.h"

namespace sextant {
namespace {

// True if the step rounds each number to a format of at most 32 bits, and does nothing else.
bool RoundsToFewBits() {
  const StepRule& rule = CurrentRule();
  return RoundsTo(rule.format, rule) && !this_context.rounding_seed &&
         UnitRoundoffOf(rule.format) >= UnitRoundoffOf(DType::kF32);
}

// The rounding of a number that is within `error` of x, relative to it; empty if x does not tell.
std::optional<double> RoundedNear(DType format, double x, double error) {
  const auto rounded = [format](double number) {
    return format == DType::kF32 ? static_cast<float>(number) : RoundTo(format, number);
  };
  const double below = rounded(x * (1 - error));
  return below == rounded(x * (1 + error)) ? std::optional(below) : std::nullopt;
}

}  // namespace

Rounded Exp(const Rounded& operand) {
  const Rounded a = Converted(operand);
  if (InDouble()) return Rounded(std::exp(a.value_.high));
  if (RoundsToFewBits() && a.value_.low == 0) {
    // The C library's exp has an error of at most one ulp (the GNU C Library's manual, "Known
    // Maximum Errors in Math Functions"); this bound is 8 ulps.
    const auto y = RoundedNear(CurrentRule().format, std::exp(a.value_.high), 0x1p-50);
    if (y) return Rounded(*y);
  }
  return Rounded::Finish(exp(a.value_));
}

std::vector<Rounded> ExpOfAll(std::span<const Rounded> numbers) {
  std::vector<Rounded> all(numbers.size());
  if (!RoundsToFewBits()) {
    std::ranges::transform(numbers, all.begin(), [](const Rounded& x) { return Exp(x); });
    return all;
  }
  std::vector<double> x(numbers.size()), y(numbers.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = Converted(numbers[i]).value();
  ExpOfEach(x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    constexpr double kMost = 600;  // ExpOfEach has an error of 2^-50 up to it, half of this bound
    const auto rounded =
        std::abs(x[i]) <= kMost ? RoundedNear(CurrentRule().format, y[i], 0x1p-49) : std::nullopt;
    all[i] = rounded ? Rounded(*rounded) : Exp(numbers[i]);
  }
  return all;
}

}  // namespace sextant
