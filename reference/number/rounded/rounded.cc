#include "reference/number/rounded/rounded.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "reference/number/double_double/double_double_functions.h"
#include "reference/number/double_double/elementary.h"
#include "reference/number/double_double/exponential_rows.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/number/recipe/tf32.h"
#include "reference/number/rounded/stochastic_rounding.h"

namespace sextant {

double RoundTo(DType type, const DoubleDouble& x) {
  if (type == DType::kF64 || x.low == 0 || !std::isfinite(x.high)) return RoundTo(type, x.high);
  // Round to odd: cut off toward zero and set the last bit (Boldo and Melquiond 2008).
  double cut = x.high;
  if ((x.low < 0) == (x.high > 0)) cut = std::nextafter(x.high, 0.0);
  if (!(EncodeBits(DType::kF64, cut) & 1)) {
    cut = std::nextafter(cut, x.high > 0 ? INFINITY : -INFINITY);
  }
  return RoundTo(type, cut);
}

namespace {

// True if the step rounds to this format and does nothing else.
bool RoundsTo(DType format, const StepRule& rule) {
  return rule.format == format && !rule.exact && !rule.flushes && rule.factors == Factors::kWhole;
}

// Functions in f64 are those of the C library. All others are computed in double-double and rounded
// once.
bool InDouble() { return CurrentRule().format == DType::kF64 && !CurrentRule().exact; }

double RoundedOnce(DType format, const DoubleDouble& x) {
  const bool quick = format == DType::kF32 && x.low == 0;
  const double y = quick ? static_cast<float>(x.high) : RoundTo(format, x);
  return y == x.high && x.low == 0 ? y : StochasticallyRounded(format, x, y);
}

DoubleDouble RoundedBy(const StepRule& rule, const DoubleDouble& x) {
  if (rule.exact) return x;
  if (x.low == 0 && RoundsTo(DType::kF64, rule)) return x;  // a value of f64
  const double y = RoundedOnce(rule.format, x);
  if (!rule.flushes) return y;
  const bool normal = std::abs(y) >= MinNormal(rule.format);
  return !normal && !std::isnan(y) ? 0 : y;
}

// f(a, b) in the step's arithmetic: in double-double if the step is exact, else in double, rounded
// to the format.
template <class F>
DoubleDouble Computed(const StepRule& rule, const DoubleDouble& a, const DoubleDouble& b, F f) {
  if (a.low == 0 && b.low == 0 && RoundsTo(DType::kF64, rule)) return f(a.high, b.high);
  const DoubleDouble x = RoundedBy(rule, a), y = RoundedBy(rule, b);
  return rule.exact ? f(x, y) : RoundedBy(rule, f(x.high, y.high));
}

}  // namespace

Rounded Rounded::Finish(const DoubleDouble& x) { return Rounded(RoundedBy(CurrentRule(), x)); }

Rounded Converted(const Rounded& a) { return Rounded::Finish(a.value_); }

Rounded operator-(const Rounded& a) { return Rounded(-a.value_); }

Rounded operator+(const Rounded& a, const Rounded& b) {
  return Rounded(Computed(CurrentRule(), a.value_, b.value_, std::plus<>()));
}

Rounded operator-(const Rounded& a, const Rounded& b) { return a + -b; }

Rounded operator*(const Rounded& a, const Rounded& b) {
  return Rounded(Computed(CurrentRule(), a.value_, b.value_, std::multiplies<>()));
}

Rounded operator/(const Rounded& a, const Rounded& b) {
  return Rounded(Computed(CurrentRule(), a.value_, b.value_, std::divides<>()));
}

Rounded Sqrt(const Rounded& operand) {
  const Rounded a = Converted(operand);
  return CurrentRule().exact ? Rounded(sqrt(a.value_)) : Rounded::Finish(std::sqrt(a.value_.high));
}

namespace {

// True if the step rounds each number to a format of at most 32 bits, and does nothing else.
bool RoundsToFewBits() {
  const StepRule& rule = CurrentRule();
  return RoundsTo(rule.format, rule) && UnitRoundoffOf(rule.format) >= UnitRoundoffOf(DType::kF32);
}

constexpr double kMostExponent = 700;  // of ExpOf with the error that elementary.h states

// The rounding of a number that is within `error` of x, relative to it; empty if x does not tell.
std::optional<double> RoundedNear(DType format, double x, double error) {
  const auto rounded = [format](double number) {
    return format == DType::kF32 ? static_cast<float>(number) : RoundTo(format, number);
  };
  const double one = x * (1 - error), other = x * (1 + error), y = rounded(one);
  if (y != rounded(other)) return std::nullopt;
  if (!this_context.rounding_seed) return y;
  // Stochastically, numbers above and below y have other neighbours.
  const bool is_above = one > y && other > y, is_below = one < y && other < y;
  return is_above || is_below ? std::optional(StochasticallyRounded(format, x, y)) : std::nullopt;
}

}  // namespace

Rounded Exp(const Rounded& operand) {
  const Rounded a = Converted(operand);
  if (InDouble()) return Rounded(std::exp(a.value_.high));
  if (RoundsToFewBits() && a.value_.low == 0 && std::abs(a.value_.high) <= kMostExponent) {
    // Twice the error of ExpOf, which has the same bits on every machine: a seed decides by them.
    const auto y = RoundedNear(CurrentRule().format, ExpOf(a.value_.high), 0x1p-49);
    if (y) return Rounded(*y);
  }
  return Rounded::Finish(exp(a.value_));
}

std::vector<Rounded> ExpOfAll(std::span<const Rounded> numbers) {
  std::vector<Rounded> all(numbers.size());
  if (!RoundsToFewBits() || this_context.rounding_seed) {  // the seed decides by all bits of Exp
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

Rounded Log(const Rounded& operand) {
  const Rounded a = Converted(operand);
  return InDouble() ? Rounded(std::log(a.value_.high)) : Rounded::Finish(log(a.value_));
}

std::pair<Rounded, Rounded> CosSin(const Rounded& operand) {
  const Rounded a = Converted(operand);
  if (InDouble()) {
    return {Rounded(std::cos(a.value_.high)), Rounded(std::sin(a.value_.high))};
  }
  const SineCosine exact = SinCos(a.value_);
  return {Rounded::Finish(exact.cosine), Rounded::Finish(exact.sine)};
}

Rounded Power(const Rounded& left, const Rounded& right) {
  const Rounded base = Converted(left), exponent = Converted(right);
  if (InDouble()) {
    return Rounded(std::pow(base.value_.high, exponent.value_.high));
  }
  if (exponent.value_.high == 0) return Rounded(1.0);
  return Rounded::Finish(exp(exponent.value_ * log(base.value_)));
}

Rounded Tanh(const Rounded& operand) {
  const Rounded a = Converted(operand);
  return InDouble() ? Rounded(std::tanh(a.value_.high)) : Rounded::Finish(tanh(a.value_));
}
Rounded Erf(const Rounded& operand) {
  const Rounded a = Converted(operand);
  return InDouble() ? Rounded(std::erf(a.value_.high)) : Rounded::Finish(erf(a.value_));
}
Rounded Erfc(const Rounded& operand) {
  const Rounded a = Converted(operand);
  return InDouble() ? Rounded(std::erfc(a.value_.high)) : Rounded::Finish(erfc(a.value_));
}
Rounded Sigmoid(const Rounded& operand) {
  const Rounded a = Converted(operand);
  const double x = a.value_.high;
  const auto by = [x](double e) { return (x < 0 ? e : 1) / (1 + e); };  // e = e^-|x|
  if (InDouble()) return Rounded(by(std::exp(-std::abs(x))));
  if (RoundsToFewBits() && a.value_.low == 0 && std::abs(x) <= kMostExponent) {
    // 2^-50 of e, twice, and half an ulp of the sum and of the quotient.
    const auto y = RoundedNear(CurrentRule().format, by(ExpOf(-std::abs(x))), 0x1p-48);
    if (y) return Rounded(*y);
  }
  return Rounded::Finish(sigmoid(a.value_));
}

// Adds four terms at a time to the sum so far. Each is cut off at the last place of the largest,
// which is that of f32 or higher.
Rounded Rounded::TensorCoreSum(std::span<const Rounded> terms) {
  const auto cut = [](double x, int lowest) {
    return std::ldexp(std::trunc(std::ldexp(x, -lowest)), lowest);
  };
  const auto exponent_of = [](double x) {
    return x == 0 || !std::isfinite(x) ? -200 : std::ilogb(x);
  };
  const int bits = 23 - std::ilogb(CurrentRule().ulps);  // after the first one
  double sum = 0;
  for (size_t i = 0; i < terms.size(); i += 4) {
    const auto four = terms.subspan(i, std::min<size_t>(4, terms.size() - i));
    int largest = exponent_of(sum);
    for (const Rounded& term : four) largest = std::max(largest, exponent_of(term.value()));
    double aligned = cut(sum, largest - bits);
    for (const Rounded& term : four) aligned += cut(term.value(), largest - bits);
    sum = cut(aligned, exponent_of(aligned) - bits);
  }
  return Finish(sum);
}

namespace {

Rounded SumOfHalves(std::span<const Rounded> terms) {
  if (terms.size() == 1) return Converted(terms[0]);
  const size_t half = terms.size() / 2;
  return SumOfHalves(terms.first(half)) + SumOfHalves(terms.subspan(half));
}

// Adds lanes or blocks: part k has the terms k * first, k * first + step, ..., at most `count`
// terms.
Rounded SumOfParts(std::span<const Rounded> terms, size_t parts, size_t first, size_t step,
                   size_t count) {
  std::vector<Rounded> sums;
  for (size_t k = 0; k < parts; ++k) {
    std::vector<Rounded> part;
    for (size_t i = k * first; i < terms.size() && part.size() < count; i += step)
      part.push_back(terms[i]);
    sums.push_back(SumOf(std::span<const Rounded>(part)));
  }
  return SumOf(std::span<const Rounded>(sums));
}

Rounded SumInOrder(std::span<const Rounded> terms, const SumOrder& order) {
  using Kind = SumOrder::Kind;
  const ScopedSumOrder forwards(SumOrder{});
  const size_t n = terms.size();
  if (order.kind == Kind::kHalves) return SumOfHalves(terms);
  if (order.kind == Kind::kLanes)
    return SumOfParts(terms, std::min(order.size, n), 1, order.size, n);
  if (order.kind == Kind::kBlocks)
    return SumOfParts(terms, (n + order.size - 1) / order.size, order.size, 1, order.size);
  std::vector<Rounded> ordered(terms.rbegin(), terms.rend());
  if (order.kind == Kind::kLargestFirst) {
    const auto size = [](const Rounded& x) {
      return std::isnan(x.value()) ? INFINITY : std::abs(x.value());
    };
    std::ranges::stable_sort(ordered, std::greater(), size);
  }
  return SumOf(std::span<const Rounded>(ordered));
}

// True if SumOf adds from the first term to the last, and numbers of this format in it.
bool AddsForwardsIn(DType format) {
  const StepRule& rule = CurrentRule();
  const bool any = rule.form == Form::kDefault || rule.form == Form::kAny;
  const bool forwards = this_context.sum_order.kind == SumOrder::Kind::kForwards;
  return RoundsTo(format, rule) && (rule.form == Form::kSequential || (any && forwards));
}

bool AreF32(std::span<const Rounded> numbers) {
  return std::ranges::all_of(numbers,
                             [](const Rounded& x) { return x.IsF32() || std::isnan(x.value()); });
}

// A factor of a product as the rule of the step reads it.
Rounded AsFactor(const Rounded& x) {
  const Factors factors = CurrentRule().factors;
  return factors == Factors::kWhole ? x : Rounded(FactorOf(factors, Converted(x).value()));
}

}  // namespace

Rounded SumOfProducts(std::span<const Rounded> a, std::span<const Rounded> b) {
  if (!a.empty() && AddsForwardsIn(DType::kF32) && AreF32(a) && AreF32(b)) {
    // The same numbers, at several times the speed. A product of two of f32 is exact in f64.
    const auto& seed = this_context.rounding_seed;
    const auto product = [&](size_t i) { return RoundedToF32(a[i].value() * b[i].value(), seed); };
    float sum = product(0);
    for (size_t i = 1; i < a.size(); ++i)
      sum = RoundedToF32(static_cast<double>(sum) + product(i), seed);
    return Rounded(static_cast<double>(sum));
  }
  const auto is_f64 = [](const Rounded& x) { return x.value_.low == 0; };
  if (!a.empty() && AddsForwardsIn(DType::kF64) && std::ranges::all_of(a, is_f64) &&
      std::ranges::all_of(b, is_f64)) {
    double sum = a[0].value() * b[0].value();
    for (size_t i = 1; i < a.size(); ++i) sum += a[i].value() * b[i].value();
    return Rounded(sum);
  }
  std::vector<Rounded> products;
  products.reserve(a.size());
  for (size_t i = 0; i < a.size(); ++i) products.push_back(AsFactor(a[i]) * AsFactor(b[i]));
  return SumOf(std::span<const Rounded>(products));
}

Rounded SumOf(std::span<const Rounded> terms) {
  if (terms.empty()) return Rounded();
  if (AddsForwardsIn(DType::kF32) &&
      AreF32(terms)) {  // the same as below, at several times the speed
    const auto& seed = this_context.rounding_seed;
    auto sum = static_cast<float>(terms[0].value());
    for (const Rounded& term : terms.subspan(1))
      sum = RoundedToF32(static_cast<double>(sum) + term.value(), seed);
    return Rounded(static_cast<double>(sum));
  }
  if (CurrentRule().form == Form::kTensorCore) return Rounded::TensorCoreSum(terms);
  const SumOrder order = this_context.sum_order;
  const bool any = CurrentRule().form == Form::kDefault || CurrentRule().form == Form::kAny;
  if (any && order.kind != SumOrder::Kind::kForwards) return SumInOrder(terms, order);
  if (CurrentRule().form == Form::kPairwise) return SumOfHalves(terms);
  const StepRule& rule = CurrentRule();
  DoubleDouble sum = RoundedBy(rule, terms[0].value_);
  for (const Rounded& term : terms.subspan(1))
    sum = Computed(rule, sum, term.value_, std::plus<>());
  return Rounded(sum);
}

bool Less(const Rounded& a, const Rounded& b) { return a.value_ < b.value_; }
double Floor(const Rounded& a) { return floor(a.value_); }
Rounded TwoPiOf(const Rounded*) { return Rounded(kPi * 2.0); }

}  // namespace sextant
