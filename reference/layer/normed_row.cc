#include "reference/layer/normed_row.h"

#include <algorithm>
#include <cmath>

#include "reference/layer/normed_row_steps.h"
#include "reference/layer/plain_square_sum.h"
#include "reference/number/double_double/elementary.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

// sum / count + eps
Counted MeanOf(const Counted& sum, size_t count, const Counted& eps) {
  const ScopedStep at(Step::kRsqrt);
  return sum / Counted(static_cast<double>(count)) + eps;
}

double ConvertedError(const StepRule& rule, const Counted& x) {
  return IsValueOf(rule, x) ? x.error() : Converted(x).error();
}

}  // namespace

Counted MeanSquareOf(const CountedSum& squares, size_t count, const Counted& eps) {
  const auto total = [&] {
    const ScopedStep at(Step::kSum);
    return squares.Total();
  };
  return MeanOf(total(), count, eps);
}

template <>
Counted MeanSquare(std::span<const Counted> x, const Counted& eps) {
  const StepRule square = RuleOf(Step::kSquare), rule = RuleOf(Step::kSum);
  Counted sum;
  if (const auto plain = SumOfPlainSquares(x, square, rule))
    return MeanSquareOf(*plain, x.size(), eps);
  std::vector<Counted> squares;
  {
    const ScopedStep at(Step::kSquare);
    for (const Counted& value : x) squares.push_back(value * value);
  }
  {
    const ScopedStep at(Step::kSum);
    sum = SumOf(squares);
  }
  return MeanOf(sum, x.size(), eps);
}

NormedRow<Counted>::NormedRow(std::span<const Counted> x, const Counted& eps)
    : x_(x), count_(x.size()), factor_(MeanSquare(x, eps)) {
  double largest = 0;
  {
    const ScopedStep at(Step::kSquare);
    for (const Counted& value : x) {
      errors_.push_back(ConvertedError(CurrentRule(), value));
      largest = std::max(largest, MagnitudeOf(value) + errors_.back());
    }
  }
  SetBounds(eps, largest, SumErrors());
}

// Replaces the mean square in factor_ by the reciprocal of its root. `largest`: upper bound of the
// |x'|.
void NormedRow<Counted>::SetBounds(const Counted& eps, double largest, const ErrorSums& errors) {
  eps_root_ = LeastRootOf(eps);
  root_ = LeastRootOf(factor_);
  {
    const ScopedStep at(Step::kRsqrt);
    factor_ = Counted(1.0) / Sqrt(factor_);
  }
  const StepRule sum = RuleOf(Step::kSum);
  SetRootErrors(sum.exact ? 0 : RelativeErrorOfSum(sum, count_).worst, errors);
  const double narrow =
      std::min({LargestOf(RuleOf(Step::kSquare)), LargestOf(sum), LargestOf(RuleOf(Step::kRsqrt))});
  const double inverse = std::min(LargestOf(RuleOf(Step::kRsqrt)), LargestOf(RuleOf(Step::kScale)));
  const auto n = static_cast<double>(count_);
  bounded_ = root_ > 0 && std::isfinite(reciprocal_error_) && 2 / least_root_ < inverse &&
             2 * (n * largest * largest + MagnitudeOf(eps)) < narrow &&
             n < LargestOf(RuleOf(Step::kRsqrt));
}

NormedRow<Counted>::ErrorSums NormedRow<Counted>::SumErrors() const {
  ErrorSums sums;
  for (size_t k = 0; k < count_; ++k) {
    const double error = ErrorOf(k);
    if (row_ && error == 0) continue;
    sums.squares += error * error;
    sums.changes += (2 * MagnitudeOf(X(k)) + error) * error;
  }
  return sums;
}

void NormedRow<Counted>::SetRootErrors(double sum_error, const ErrorSums& errors) {
  const auto n = static_cast<double>(count_);
  const double up = kBoundUp * (1 + n * 0x1p-52), length = std::sqrt(errors.squares / n) * up;
  const double sum_of_roots = root_ + std::max(eps_root_, root_ - length);
  root_error_ = std::min(length, errors.changes / n / sum_of_roots * up);
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
  const Counted x = X(j);
  const double magnitude = MagnitudeOf(x), quotient = magnitude / root_ * kBoundUp;
  // Bounds |x'_j in step scale - x'_j in step square|: both are conversions of the same number.
  const double difference = (ErrorOf(j) + converted.error()) * kBoundUp - 2 * x.error();
  const double limit = std::sqrt(static_cast<double>(count_)) + difference / least_root_ + quotient;
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
  const Counted converted = Converted(X(j)), y = converted * factor_;
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

}  // namespace sextant
