#include "reference/number/counted/counted.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>

#include "reference/number/counted/counted_steps.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/recipe.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

// True if x is not a value of the format because it has more significand bits.
bool HasMoreBits(const Grid& grid, double x) {
  return (std::bit_cast<uint64_t>(x) & ((uint64_t{1} << (53 - grid.precision)) - 1)) != 0;
}

// a * b, the same value with fewer operations where low parts are 0.
DoubleDouble Product(const DoubleDouble& a, const DoubleDouble& b) {
  const DoubleDouble c = TwoProduct(a.high, b.high);
  if (a.low == 0) return FastTwoSum(c.high, c.low + (b.low == 0 ? 0 : a.high * b.low));
  if (b.low == 0) return FastTwoSum(c.high, c.low + a.low * b.high);
  return a * b;
}

}  // namespace

Counted Counted::RoundedTo(double x, DType format) {
  const StepRule& rule = CurrentRule();
  if (!rule.exact && Contains(format, rule.format)) return Counted(x, format);
  Counted y(x);
  const double half = std::isfinite(x) ? UlpOf(format, x) / 2 : 0;
  y.SetError(half, half);
  return y;
}

Counted Counted::AroundCenterOf(const Counted& other) const {
  Counted y = *this;
  y.center_ = other.center_;
  y.drift_ = other.drift_;
  return y;
}

double RoundingError(const StepRule& rule, double most, double least) {
  const double error = RoundingError(rule.format, most);
  if (!rule.flushes) return error;
  const double normal = MinNormal(rule.format);
  return least < normal ? std::max(error, std::min(most, normal)) : error;
}

Counted Converted(const Counted& a) { return Counted::ConvertedBy(CurrentRule(), a); }

void ConvertAll(std::span<Counted> numbers) {
  const StepRule rule = CurrentRule();
  if (rule.exact) return;
  for (Counted& x : numbers) {
    const bool contained = x.format_ && Contains(rule.format, *x.format_);
    if (contained && !rule.flushes) {
      x.format_ = rule.format;
      continue;
    }
    if (x.IsExact() || rule.flushes) {
      x = Counted::ConvertedBy(rule, x);
      continue;
    }
    const double rounding = RoundingError(rule.format, x.Magnitude() + x.error_);
    x.format_ = rule.format;
    x.SetError(x.error_ + rounding, x.likely_ + rounding);
  }
}

Counted operator-(const Counted& a) {
  Counted y = a;
  y.center_ = -a.center_;
  return y;
}

Counted operator+(const Counted& left, const Counted& right) {
  const StepRule& rule = CurrentRule();
  const Operand of_left(rule, left), of_right(rule, right);
  const Counted &a = *of_left, &b = *of_right;
  if (a.IsZero()) return Converted(right);
  if (b.IsZero()) return Converted(left);
  const DoubleDouble center = a.center_ + b.center_;
  // The sum of two doubles is exactly a double-double.
  const bool precise = a.IsExact() && b.IsExact() && a.center_.low == 0 && b.center_.low == 0;
  return Counted::Finish(
      {center, Counted::PropagatedBounds(a, b, std::plus<>()),
       precise ? 0 : a.drift_ + b.drift_ + DriftOf(center, 4), a.saturated_ || b.saturated_},
      0.5);
}

Counted operator-(const Counted& a, const Counted& b) { return a + -b; }

bool Counted::IsOrdinaryFactor() const {
  return !IsZero() && !IsPowerOfTwo() && std::isfinite(center_.high) &&
         std::isfinite(error_ + drift_);
}

inline Counted::Raw Counted::RawProduct(const Counted& a, const Counted& b) {
  Raw y{Product(a.center_, b.center_), {}, 0, a.saturated_ || b.saturated_};
  const double size_a = a.Magnitude(), size_b = b.Magnitude();
  y.error = PropagatedBounds(
      a, b, [&](double of_a, double of_b) { return size_a * of_b + size_b * of_a + of_a * of_b; });
  // The product of two doubles is exactly a double-double unless its lower half underflows.
  const bool precise = a.IsExact() && b.IsExact() && a.center_.low == 0 && b.center_.low == 0 &&
                       std::abs(y.center.high) > 0x1p-900;
  if (!precise)
    y.drift = size_a * b.drift_ + size_b * a.drift_ + a.drift_ * b.drift_ + DriftOf(y.center, 8);
  return y;
}

Counted operator*(const Counted& left, const Counted& right) {
  const StepRule& rule = CurrentRule();
  const Operand of_left(rule, left), of_right(rule, right);
  const Counted &a = *of_left, &b = *of_right;
  Counted::Raw raw = Counted::RawProduct(a, b);
  // 0 times any finite number is 0: position 0 rotates nothing.
  const bool zero = (a.IsZero() && std::isfinite(b.Magnitude() + b.error_)) ||
                    (b.IsZero() && std::isfinite(a.Magnitude() + a.error_));
  if (zero) {
    raw.drift = 0;
    raw.saturated = false;
  }
  // The product of a value of the format and a power of two needs no rounding, unless it falls
  // below the smallest normal number or above the largest number of the format.
  if ((a.IsPowerOfTwo() || b.IsPowerOfTwo()) && !rule.exact) {
    const DType format = rule.format;
    const double least = std::abs(raw.center.high) * (1 - 0x1p-50) - raw.error.worst - raw.drift;
    const double most = a.Magnitude() * b.Magnitude() * (1 + 0x1p-50) + raw.error.worst;
    raw.rounds = !(least >= MinNormal(format) && most < MaxFinite(format));
  }
  return Counted::Finish(raw, 0.5);
}

Counted OrdinaryProduct(const Counted& a, const Counted& b) {
  const DType format = CurrentRule().format;
  const Grid grid = GridOf(format);
  const Counted::Raw raw = Counted::RawProduct(a, b);
  const Counted y = Counted::Of(raw.center, raw.drift, format, raw.saturated);
  const bool exact = a.IsExact() && b.IsExact() && raw.drift == 0 && raw.center.low == 0 &&
                     !HasMoreBits(grid, raw.center.high) &&
                     IsRepresentable(format, raw.center.high);
  const double rounding = exact ? 0 : RoundingError(format, y.Magnitude() + raw.error.worst);
  return y.WithError({raw.error.worst + rounding, raw.error.likely + rounding});
}

// a'/b' - a/b = ((a' - a) - (a/b) (b' - b)) / b', and likewise for the centre.
Counted operator/(const Counted& left, const Counted& right) {
  const StepRule& rule = CurrentRule();
  const Operand of_left(rule, left), of_right(rule, right);
  const Counted &a = *of_left, &b = *of_right;
  if (b.IsPowerOfTwo()) {
    const double inverse = 1 / b.center_.high;
    if (rule.exact || sextant::IsRepresentable(rule.format, inverse)) return a * Counted(inverse);
  }
  const DoubleDouble center = a.center_ / b.center_;
  // |b| >= least, and |b'| >= least - error.
  const double least = std::abs(b.center_.high) * (1 - 0x1p-50) - b.drift_;
  const bool nonzero = least - b.error_ > 0;
  const Counted::Bounds error = Counted::PropagatedBounds(a, b, [&](double of_a, double of_b) {
    return nonzero ? (of_a + a.Magnitude() / least * of_b) / (least - of_b) : kInfinity;
  });
  bool precise = false;
  if (a.IsExact() && b.IsExact() && center.low == 0) {
    const DoubleDouble back = TwoProduct(center.high, b.center_.high);
    precise = b.center_.low == 0 && back.high == a.center_.high && back.low == a.center_.low &&
              std::abs(back.high) > 0x1p-900;
    if (a.center_.high == 0) precise = true;
  }
  const double quotient = std::abs(center.high) * (1 + 0x1p-50);
  const double drift =
      precise     ? 0
      : least > 0 ? (a.drift_ + quotient * b.drift_ + kTinyDrift) / least + DriftOf(center, 16)
                  : kInfinity;
  return Counted::Finish({center, error, drift, a.saturated_ || b.saturated_}, 0.5);
}

// Factor lambda of the likely bound lambda sqrt(n) u of a sum of n independent, unbiased roundings,
// each of at most u: the sum exceeds the bound with a probability below 2 e^-32.
// Source: Higham and Mary 2019, "A new approach to probabilistic rounding error analysis", SIAM J.
// Sci. Comput. 41(5), theorem 2.4.
constexpr double kLikelyDeviations = 8;

// n terms in any order, rounded to nearest: the error is at most (n-1) u sum |x'_i|. In a pairwise
// sum the depth ceil(log2 n) replaces n-1, to second order. Underflow causes no error in a sum.
// Tensor cores align each of at least four summands and the sum so far to the largest of them, cut
// each off at a unit in the last place of the largest (2u of it), and cut their sum off once more:
// 10 u for every four terms, u: half a unit in the last place of what they keep. Cutting off always
// rounds towards 0, so the likely bound is not smaller. Source: Jeannerod and Rump 2013, "Improved
// error bounds for inner products in floating-point arithmetic", SIAM J. Matrix Anal. Appl. 34(2),
// theorem 3.1; for pairwise sums Higham 2002, 4.2; for tensor cores Fasi, Higham, Mikaitis and
// Pranesh 2021, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer Science 7:e330.
SumError RelativeErrorOfSum(const StepRule& rule, size_t n) {
  const auto terms = static_cast<double>(n);
  const bool is_tensor_core = rule.form == Form::kTensorCore;
  const double unit = UnitRoundoffOf(rule.format) * (is_tensor_core ? rule.ulps : 1);
  const auto compounded = [unit](double roundings) {
    const double relative = roundings * unit;
    return relative < 1 ? relative / (1 - relative) : kInfinity;
  };
  if (is_tensor_core) {
    const double all = compounded(10 * std::ceil(terms / 4));
    return {all, all};
  }
  if (n <= 1) return {};
  const double depth = rule.form == Form::kPairwise ? std::bit_width(n - 1) : terms - 1;
  const double worst = rule.form == Form::kPairwise ? compounded(depth) : depth * unit;
  return {worst, std::min(worst, compounded(kLikelyDeviations * std::sqrt(depth)))};
}

void CountedSum::Add(const Counted& x) {
  sum_.center_ = Sum(sum_.center_, x.center_, rounding_);
  sum_.error_ += x.error_;
  sum_.likely_ += x.likely_;
  sum_.drift_ += x.drift_;
  sum_.saturated_ = sum_.saturated_ || x.saturated_;
  size_ += x.Magnitude() + x.error_;
  ++count_;
}

Counted CountedSum::Total() const {
  const StepRule& rule = CurrentRule();
  return Total(rule, rule.exact || count_ == 0 ? SumError() : RelativeErrorOfSum(rule, count_));
}

Counted CountedSum::Total(const StepRule& rule, const SumError& relative) const {
  Counted total;
  SetTotal(rule, relative, total);
  return total;
}

Counted SumOf(std::span<const Counted> terms) {
  CountedSum sum;
  const StepRule& rule = CurrentRule();
  for (const Counted& term : terms) sum.Add(*Operand(rule, term));
  return sum.Total();
}

// If every x' lies beyond one limit, the result is that limit. Otherwise let y be the clamped x.
// Clamping never increases |x' - x|, and clamped numbers lie at most max(high - y, y - low) from y.
// The second bound does not hold for NaN: an infinite error may stand for NaN, which Clamp returns
// unchanged. In an exact step every x' is a number. The format of the result is not known.
Counted Clamp(const Counted& x, const Counted& low, const Counted& high) {
  if (std::isnan(x.center_.high)) return x;
  const auto below = [](const Counted& a, const Counted& b) {
    const double reach = (a.error_ + a.drift_ + b.error_ + b.drift_) * Counted::kRoundUp;
    return (b.center_ - a.center_).high > reach;
  };
  if (below(x, low)) return low;
  if (below(high, x)) return high;
  Counted y = x;
  y.center_ = std::max(low.center_, std::min(x.center_, high.center_));
  y.drift_ += low.drift_ + high.drift_;
  const double reach =
      std::max((high.center_ - y.center_).high, (y.center_ - low.center_).high) * Counted::kRoundUp;
  const bool is_number = std::isfinite(x.error_) || CurrentRule().exact;
  const double farthest = is_number ? reach + y.drift_ : kInfinity;
  y.SetError(std::min(x.error_, farthest) + low.error_ + high.error_,
             std::min(x.likely_, farthest) + low.likely_ + high.likely_);
  y.format_.reset();
  return y;
}

// max is no farther from max(a, b) than the farther one of its operands from a or b.
Counted Max(const Counted& a, const Counted& b) {
  const bool is_b = a.center_ < b.center_ || std::isnan(b.center_.high);
  const Counted &large = is_b ? b : a, &small = is_b ? a : b;
  const double reach =
      (large.error_ + large.drift_ + small.error_ + small.drift_) * Counted::kRoundUp;
  if (!((large.center_ - small.center_).high <= reach)) return large;
  Counted y = large;
  y.drift_ = std::max(a.drift_, b.drift_);
  y.SetError(std::max(a.error_, b.error_), std::max(a.likely_, b.likely_));
  if (a.format_ != b.format_) y.format_.reset();
  y.saturated_ = a.saturated_ || b.saturated_;
  return y;
}

double Floor(const Counted& x) {
  // The ends of the enclosure are rounded, too.
  const DoubleDouble reach = x.drift_ == 0 ? 0.0 : x.drift_ + DriftOf(x.center_, 8);
  if (floor(x.center_ - reach) != floor(x.center_ + reach)) this_context.uncertain = true;
  return floor(x.center_);
}

Counted TwoPiOf(const Counted*) {
  Counted y;
  y.center_ = kPi * 2.0;
  y.drift_ = DriftOf(y.center_, 1);
  return y;
}

}  // namespace sextant
