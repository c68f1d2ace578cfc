#include "reference/layer/normed_row.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/layer/plain_normed_row.h"
#include "reference/layer/plain_square_sum.h"
#include "reference/number/double_double/elementary.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

StepRule RuleOf(Step step) {
  const ScopedStep at(step);
  return CurrentRule();
}

double UnitRoundoffOf(const StepRule& rule) { return rule.exact ? 0 : UnitRoundoffOf(rule.format); }
double UnderflowOf(const StepRule& rule) { return rule.exact ? 0 : UnderflowErrorOf(rule); }
double LargestOf(const StepRule& rule) {
  return rule.exact ? std::numeric_limits<double>::max() : MaxFinite(rule.format);
}

// Factor that rounds a computed bound down; kBoundUp rounds it up.
constexpr double kBoundDown = 1 - 0x1p-40;

// Upper bound of |x|.
double MagnitudeOf(const Counted& x) { return std::abs(x.center().high) * kBoundUp + x.drift(); }
// Lower bound of sqrt(x).
double LeastRootOf(const Counted& x) {
  return std::sqrt(std::max(0.0, x.center().high * kBoundDown - x.drift())) * kBoundDown;
}

// True if conversion to the format of the rule changes nothing but the format.
bool IsValueOf(const StepRule& rule, const Counted& x) {
  return rule.exact || (!rule.flushes && x.format() && Contains(rule.format, *x.format()));
}

double ConvertedError(const StepRule& rule, const Counted& x) {
  return IsValueOf(rule, x) ? x.error() : Converted(x).error();
}

}  // namespace

template <>
Counted MeanSquare(std::span<const Counted> x, const Counted& eps) {
  const StepRule square = RuleOf(Step::kSquare), rule = RuleOf(Step::kSum);
  Counted sum;
  if (const auto plain = SumOfPlainSquares(x, square, rule)) {
    const ScopedStep at(Step::kSum);
    sum = plain->Total();
  } else {
    std::vector<Counted> squares;
    {
      const ScopedStep at(Step::kSquare);
      for (const Counted& value : x) squares.push_back(value * value);
    }
    const ScopedStep at(Step::kSum);
    sum = SumOf(squares);
  }
  const ScopedStep at(Step::kRsqrt);
  return sum / Counted(static_cast<double>(x.size())) + eps;
}

NormedRow<Counted>::NormedRow(std::span<const Counted> x, const Counted& eps)
    : x_(x), factor_(MeanSquare(x, eps)), eps_root_(LeastRootOf(eps)), root_(LeastRootOf(factor_)) {
  {
    const ScopedStep at(Step::kRsqrt);
    factor_ = Counted(1.0) / Sqrt(factor_);
  }
  double largest = 0;
  {
    const ScopedStep at(Step::kSquare);
    for (const Counted& value : x) {
      errors_.push_back(ConvertedError(CurrentRule(), value));
      largest = std::max(largest, MagnitudeOf(value) + errors_.back());
    }
  }
  const StepRule sum = RuleOf(Step::kSum);
  SetRootErrors(sum.exact ? 0 : RelativeErrorOfSum(sum, x.size()).worst);
  const double narrow =
      std::min({LargestOf(RuleOf(Step::kSquare)), LargestOf(sum), LargestOf(RuleOf(Step::kRsqrt))});
  const double inverse = std::min(LargestOf(RuleOf(Step::kRsqrt)), LargestOf(RuleOf(Step::kScale)));
  const auto n = static_cast<double>(x.size());
  bounded_ = root_ > 0 && std::isfinite(reciprocal_error_) && 2 / least_root_ < inverse &&
             2 * (n * largest * largest + MagnitudeOf(eps)) < narrow &&
             n < LargestOf(RuleOf(Step::kRsqrt));
}

void NormedRow<Counted>::SetRootErrors(double sum_error) {
  const auto n = static_cast<double>(x_.size());
  double squares = 0, changes = 0;
  for (size_t k = 0; k < x_.size(); ++k) {
    squares += errors_[k] * errors_[k];
    changes += (2 * MagnitudeOf(x_[k]) + errors_[k]) * errors_[k];
  }
  const double up = kBoundUp * (1 + n * 0x1p-52), length = std::sqrt(squares / n) * up;
  const double sum_of_roots = root_ + std::max(eps_root_, root_ - length);
  root_error_ = std::min(length, changes / n / sum_of_roots * up);
  least_root_ = std::max(eps_root_, (root_ - root_error_) * kBoundDown);
  const StepRule square = RuleOf(Step::kSquare), sum = RuleOf(Step::kSum);
  const StepRule rsqrt = RuleOf(Step::kRsqrt), scale = RuleOf(Step::kScale);
  // ln of the factor (1 - u)^-1 of one rounding.
  const auto growth = [](const StepRule& rule) { return -Log1pOf(-UnitRoundoffOf(rule)); };
  const double roundings = Expm1Of(growth(square) + growth(sum) + 5 * growth(rsqrt)) * kBoundUp;
  const double relative = (roundings + sum_error + roundings * sum_error) * kBoundUp;
  const double underflow = UnderflowOf(square) + 2 * UnderflowOf(sum) + 5 * UnderflowOf(rsqrt);
  const double square_error =
      (relative + (1 + relative) * underflow / (least_root_ * least_root_)) * kBoundUp;
  const double last = Expm1Of(2 * growth(rsqrt) + 2 * growth(scale)) * kBoundUp;
  reciprocal_error_ =
      square_error < 0.5 ? (last + square_error) / (1 - square_error) * kBoundUp : kInfinity;
}

// `converted` is x_j in the format of step scale.
double NormedRow<Counted>::QuotientError(size_t j, const Counted& converted) const {
  const double magnitude = MagnitudeOf(x_[j]), quotient = magnitude / root_ * kBoundUp;
  // Bounds |x'_j in step scale - x'_j in step square|: both are conversions of the same number.
  const double difference = (errors_[j] + converted.error()) * kBoundUp - 2 * x_[j].error();
  const double limit =
      std::sqrt(static_cast<double>(x_.size())) + difference / least_root_ + quotient;
  const double propagated =
      std::min((converted.error() + quotient * root_error_) / least_root_, limit);
  const double most = quotient + propagated, largest = LargestOf(RuleOf(Step::kScale));
  if (!(2 * most < largest && magnitude + converted.error() < largest)) return kInfinity;
  const double underflow = UnderflowOf(RuleOf(Step::kScale)) * (1 + magnitude + converted.error());
  return (propagated + most * reciprocal_error_ + underflow) * kBoundUp;
}

Counted NormedRow<Counted>::Quotient(size_t j) const {
  static const Recipe kExact = ParseRecipe("exact", DType::kF64);
  const ScopedStep at(Step::kScale);
  const Counted converted = Converted(x_[j]), y = converted * factor_;
  if (!bounded_) return y;
  const double error =
      QuotientError(j, converted) + y.drift() + std::abs(y.center().high) * 0x1p-50;
  if (!(error < y.error())) return y;
  // y' is finite, because r' > 0
  const Scoped<&EvaluationContext::rule> exactly(&kExact.steps[static_cast<size_t>(Step::kScale)]);
  return Clamp(y, Counted(y.center().high - error), Counted(y.center().high + error));
}

Counted NormedRow<Counted>::operator()(size_t j, const Counted& w) const {
  const Counted quotient = Quotient(j);
  const ScopedStep at(Step::kWeigh);
  return quotient * w;
}

namespace {

// Counted::IsOrdinaryFactor, quickly; false also for a few numbers that are ordinary.
bool IsOrdinary(const Counted& x) {
  const double high = x.center().high, spread = x.error() + x.drift();
  const bool has_fraction = std::bit_cast<uint64_t>(high) << 12 != 0 && ExponentOf(high) > -1023;
  return std::isfinite(high) && std::isfinite(spread) && (spread > 0 || has_fraction) &&
         !x.saturated();
}

// The numbers of a row in a step, and which of them are ordinary factors.
struct ConvertedRow {
  ConvertedRow(std::span<const Counted> row, Step step, std::vector<double>& ordinary)
      : numbers(row.size()) {
    const ScopedStep at(step);
    const StepRule rule = CurrentRule();
    for (size_t j = 0; j < row.size(); ++j) {
      numbers.Set(j, IsValueOf(rule, row[j]) ? row[j] : Converted(row[j]));
      if (!IsOrdinary(row[j])) ordinary[j] = 0;
    }
  }
  CountedArrays numbers;
};

}  // namespace

void NormedRow<Counted>::WeighPlain(std::span<const Counted> weight, CountedArrays& y,
                                    std::vector<double>& ordinary) const {
  const size_t M = weight.size();
  const StepRule scale = RuleOf(Step::kScale), weigh = RuleOf(Step::kWeigh);
  std::vector<double> error(M), size(M);
  for (size_t j = 0; j < M; ++j) {
    error[j] = x_[j].error();
    size[j] = MagnitudeOf(x_[j]);
  }
  ConvertedRow x(x_, Step::kScale, ordinary), weights(weight, Step::kWeigh, ordinary);
  std::vector<double> one = {1};
  ConvertedRow factor(std::span(&factor_, 1), Step::kScale, one);
  WeighPlainRow({.count = M,
                 .x = x.numbers.numbers(),
                 .weight = weights.numbers.numbers(),
                 .error = error.data(),
                 .size = size.data(),
                 .square_error = errors_.data(),
                 .ordinary = ordinary.data(),
                 .factor = factor.numbers.numbers(),
                 .bounded = bounded_,
                 .root = root_,
                 .root_error = root_error_,
                 .least_root = least_root_,
                 .reciprocal_error = reciprocal_error_,
                 .root_of_count = std::sqrt(static_cast<double>(M)),
                 .largest = LargestOf(scale),
                 .underflow = UnderflowOf(scale),
                 .scale = OrdinaryRange(scale),
                 .weigh = OrdinaryRange(weigh),
                 .weigh_contains_scale = !scale.exact && Contains(weigh.format, scale.format),
                 .y = y.numbers(),
                 .result_ordinary = ordinary.data()});
}

void NormedRow<Counted>::Weigh(std::span<const Counted> weight, std::span<Counted> y) const {
  const StepRule scale = RuleOf(Step::kScale), weigh = RuleOf(Step::kWeigh);
  const bool plain = factor_.drift() > 0 && IsOrdinary(factor_) && !scale.flushes && !weigh.flushes;
  std::vector<double> ordinary(y.size(), plain ? 1.0 : 0.0);
  CountedArrays results(y.size());
  if (plain) WeighPlain(weight, results, ordinary);
  for (size_t j = 0; j < y.size(); ++j)
    y[j] = ordinary[j] != 0 ? results.Get(j, FormatOf(weigh)) : (*this)(j, weight[j]);
}

}  // namespace sextant
