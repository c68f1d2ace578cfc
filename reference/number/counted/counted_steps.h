// The parts that all operations of a Counted share: the conversion of the operands, and the
// rounding of the result, also of a sum. Inline, because nearly every number of a proof passes
// through them. Private to the files that implement Counted and its dot products.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "reference/number/counted/counted.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {

inline bool IsRepresentable(DType format, const DoubleDouble& x) {
  return x.low == 0 && IsRepresentable(format, x.high);
}

inline Counted Counted::ConvertedBy(const StepRule& rule, const Counted& a) {
  if (rule.exact) return a;
  Counted y = a;
  y.format_ = rule.format;
  const bool is_value = (a.format_ && Contains(rule.format, *a.format_)) ||
                        (a.IsExact() && sextant::IsRepresentable(rule.format, a.center_));
  if (is_value && (!rule.flushes || a.IsZero())) return y;
  const double most = a.Magnitude() + a.error_;
  double rounding = 0;
  if (!is_value) rounding = RoundingError(rule.format, most);
  if (rule.flushes && a.LeastMagnitude() < MinNormal(rule.format))
    rounding = std::max(rounding, std::min(most, MinNormal(rule.format)));
  y.error_ += rounding;
  y.likely_ += rounding;
  return y;
}

// An operand with the value and the errors of Converted(a), without a copy if these do not change.
// Its format is not set.
class Operand {
 public:
  Operand(const StepRule& rule, const Counted& a) : operand_(&a) {
    const bool is_value = (a.format() && Contains(rule.format, *a.format())) ||
                          (a.IsExact() && IsRepresentable(rule.format, a.center()));
    if (rule.exact || (is_value && !rule.flushes)) return;
    operand_ = &converted_.emplace(Converted(a));
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  const Counted& operator*() const { return *operand_; }

 private:
  std::optional<Counted> converted_;
  const Counted* operand_;
};

inline Counted Counted::Finish(const Raw& raw, double ulps) {
  const StepRule& rule = CurrentRule();
  Counted y;
  y.center_ = raw.center;
  // Infinity times 0 gives NaN: the bound is infinite.
  y.error_ = std::isnan(raw.error.worst) ? kInfinity : raw.error.worst;
  y.likely_ = std::isnan(raw.error.likely) ? kInfinity : raw.error.likely;
  y.drift_ = std::isnan(raw.drift) ? kInfinity : raw.drift;
  y.saturated_ = raw.saturated;
  if (rule.exact) return y;
  y.format_ = rule.format;
  const bool exact =
      !raw.rounds || (y.IsExact() && sextant::IsRepresentable(rule.format, y.center_));
  if (exact && (!rule.flushes || y.IsZero())) return y;
  const double magnitude = std::min(y.Magnitude() + y.error_, raw.limit);
  double rounding = exact ? 0 : RoundingError(rule.format, magnitude);
  // A function accurate to u ulps errs by 2u times half an ulp; overflow keeps its infinite error.
  if (ulps != 0.5 && !exact && rounding != kInfinity)
    rounding = ulps * UlpOf(rule.format, magnitude);
  if (rule.flushes) {
    const double normal = MinNormal(rule.format);
    if (y.LeastMagnitude() < normal) rounding = std::max(rounding, std::min(magnitude, normal));
  }
  y.error_ += rounding;
  y.likely_ += rounding;
  return y;
}

inline void CountedSum::SetTotal(const StepRule& rule, const SumError& relative,
                                 Counted& to) const {
  const auto n = static_cast<double>(count_);
  const double loop = 1 + n * 0x1p-52;  // covers the rounding of the additions in Add
  const double flushed = rule.flushes ? (n - 1) * MinNormal(rule.format) : 0;
  const auto total = [&](double error, double of_sum) {
    if (rule.exact || n == 0) return error * loop;
    return (error + of_sum * size_) * loop + flushed;
  };
  const bool overflows =
      !rule.exact && n > 1 && !(size_ * (1 + relative.worst) < MaxFinite(rule.format));
  const Counted::Bounds infinite{kInfinity, kInfinity},
      bounds{total(sum_.error_, relative.worst), total(sum_.likely_, relative.likely)};
  std::construct_at(&to, sum_.center_, overflows ? infinite : bounds,
                    (sum_.drift_ + rounding_) * loop, rule.exact ? sum_.format_ : rule.format,
                    sum_.saturated_);
}

}  // namespace sextant
