#include "reference/layer/normed_row.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "reference/layer/normed_row_steps.h"
#include "reference/layer/plain_normed_row.h"
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

// Whole rows: by vectors where elements are no special cases.

// x and the weight are converted to the formats of their steps.
struct NormedRow<Counted>::PlainArrays {
  CountedNumbers x, weight;
  const double *error, *size, *square_error;  // of x before the conversion, as in PlainNormedRow
  const double* ordinary;                     // 0 for a special case
  double* result_ordinary;                    // the same for the results
};

void NormedRow<Counted>::WeighPlain(const PlainArrays& arrays, const CountedNumbers& y) const {
  const StepRule scale = RuleOf(Step::kScale), weigh = RuleOf(Step::kWeigh);
  std::vector<double> one = {1};
  ConvertedRow factor(std::span(&factor_, 1), Step::kScale, one);
  WeighPlainRow({.count = count_,
                 .x = arrays.x,
                 .weight = arrays.weight,
                 .error = arrays.error,
                 .size = arrays.size,
                 .square_error = arrays.square_error,
                 .ordinary = arrays.ordinary,
                 .factor = factor.numbers.numbers(),
                 .bounded = bounded_,
                 .root = root_,
                 .root_error = root_error_,
                 .least_root = least_root_,
                 .reciprocal_error = reciprocal_error_,
                 .root_of_count = std::sqrt(static_cast<double>(count_)),
                 .by_reciprocals = this_context.double_centers,
                 .inverse_root = 1 / root_,
                 .inverse_least_root = 1 / least_root_,
                 .largest = LargestOf(scale),
                 .underflow = UnderflowOf(scale),
                 .scale = OrdinaryRange(scale),
                 .weigh = OrdinaryRange(weigh),
                 .weigh_contains_scale = !scale.exact && Contains(weigh.format, scale.format),
                 .y = y,
                 .result_ordinary = arrays.result_ordinary});
}

bool NormedRow<Counted>::IsPlain() const {
  return factor_.drift() > 0 && IsOrdinary(factor_) && !RuleOf(Step::kScale).flushes &&
         !RuleOf(Step::kWeigh).flushes;
}

void NormedRow<Counted>::Weigh(std::span<const Counted> weight, std::span<Counted> y) const {
  const size_t M = y.size();
  std::vector<double> ordinary(M, IsPlain() ? 1.0 : 0.0), error(M), size(M);
  CountedArrays results(M);
  if (IsPlain()) {
    for (size_t j = 0; j < M; ++j) {
      error[j] = x_[j].error();
      size[j] = MagnitudeOf(x_[j]);
    }
    ConvertedRow x(x_, Step::kScale, ordinary), weights(weight, Step::kWeigh, ordinary);
    WeighPlain({x.numbers.numbers(), weights.numbers.numbers(), error.data(), size.data(),
                errors_.data(), ordinary.data(), ordinary.data()},
               results.numbers());
  }
  for (size_t j = 0; j < M; ++j) {
    y[j] =
        ordinary[j] != 0 ? results.Get(j, FormatOf(RuleOf(Step::kWeigh))) : (*this)(j, weight[j]);
  }
}

NormedRow<Counted>::Weights::Weights(std::span<const Counted> weights)
    : weights_(weights), ordinary_(weights.size(), 1.0), converted_(weights.size()) {
  converted_ = std::move(ConvertedRow(weights, Step::kWeigh, ordinary_).numbers);
}

NormedRow<Counted>::Weights::Weights(const ExactSpan& weights)
    : exact_(weights), ordinary_(weights.values.size()), converted_(weights.values.size()) {
  const StepRule rule = RuleOf(Step::kWeigh);
  if (!rule.exact && (rule.flushes || !Contains(rule.format, weights.type))) {
    const std::vector<Counted> numbers = CountedOf(weights);
    ordinary_.assign(numbers.size(), 1.0);
    converted_ = std::move(ConvertedRow(numbers, Step::kWeigh, ordinary_).numbers);
    return;
  }
  std::ranges::copy(weights.values, converted_.numbers().high);
  std::ranges::transform(weights.values, ordinary_.begin(),
                         [](double w) { return IsOrdinary(w, 0) ? 1.0 : 0.0; });
}

bool NormedRow<Counted>::TakesArrays(const std::optional<DType>& format) {
  return std::ranges::all_of(std::array{Step::kSquare, Step::kScale}, [&](Step step) {
    const StepRule rule = RuleOf(step);
    return rule.exact || (!rule.flushes && format && Contains(rule.format, *format));
  });
}

NormedRow<Counted>::NormedRow(const CountedSpan& x, const Counted& eps, Memory& memory)
    : row_(x), memory_(&memory), count_(x.count) {
  SetMeanSquare(eps);
}

NormedRow<Counted>::NormedRow(const ExactSpan& x, const Counted& eps, Memory& memory)
    : row_(memory.Copied(x)), memory_(&memory), count_(x.values.size()) {
  const auto of = this_context.double_centers
                      ? SumOfExactSquares(x, RuleOf(Step::kSquare), RuleOf(Step::kSum), memory.size)
                      : std::nullopt;
  if (of) {
    factor_ = MeanSquareOf({of->center, of->rounding, of->error, of->size, count_}, count_, eps);
    SetBounds(eps, of->largest, {});
  } else {
    SetMeanSquare(eps);
  }
}

NormedRow<Counted>::NormedRow(const CountedSpan& x, const CenteredSums& sums, const Counted& eps,
                              Memory& memory)
    : row_(x), memory_(&memory), count_(x.count), factor_(MeanSquareOf(sums.squares, count_, eps)) {
  SetBounds(eps, sums.largest, {sums.error_squares, sums.changes});
}

void NormedRow<Counted>::SetMeanSquare(const Counted& eps) {
  const CountedSpan& x = *row_;
  NormedRow<Counted>::Memory& memory = *memory_;
  const StepRule square = RuleOf(Step::kSquare), sum = RuleOf(Step::kSum);
  if (const auto plain = SumOfPlainSquares(x, square, sum, memory.squares)) {
    factor_ = MeanSquareOf(*plain, count_, eps);
  } else {
    std::vector<Counted> numbers;
    for (size_t j = 0; j < count_; ++j) numbers.push_back(x[j]);
    factor_ = MeanSquare<Counted>(numbers, eps);
  }
  double largest = 0;
  for (size_t j = 0; j < count_; ++j) {
    memory.size[j] = std::abs(x.numbers.high[j]) * kBoundUp + x.numbers.drift[j];
    largest = std::max(largest, memory.size[j] + x.numbers.error[j]);
  }
  SetBounds(eps, largest, SumErrors());
}

void NormedRow<Counted>::Weigh(Weights& weight, const CountedNumbers& y) const {
  const CountedNumbers& x = row_->numbers;
  std::vector<double>& ordinary = memory_->ordinary;
  if (IsPlain()) {
    WeighPlain({x, weight.converted_.numbers(), x.error, memory_->size.data(), x.error,
                weight.ordinary_.data(), ordinary.data()},
               y);
  } else {
    std::ranges::fill(ordinary, 0.0);
  }
  for (size_t j = 0; j < count_; ++j) {
    if (ordinary[j] == 0) Set(y, j, (*this)(j, weight[j]));
  }
}

}  // namespace sextant
