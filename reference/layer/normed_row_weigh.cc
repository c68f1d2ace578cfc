// Whole rows of NormedRow<Counted>, by vectors where elements are no special cases.
#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/layer/normed_row_arrays.h"
#include "reference/layer/normed_row_steps.h"
#include "reference/layer/plain_normed_row.h"
#include "reference/layer/plain_square_sum.h"

namespace sextant {
namespace {

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
