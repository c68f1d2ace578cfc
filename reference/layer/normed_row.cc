#include "reference/layer/normed_row.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/number/rounding_units.h"

namespace sextant {
namespace {

StepRule RuleOf(Step step) {
  const ScopedStep at(step);
  return CurrentRule();
}

double UnitOf(const StepRule& rule) { return rule.exact ? 0 : UnitOf(rule.format); }
double UnderflowOf(const StepRule& rule) { return rule.exact ? 0 : LeastOf(rule); }
double LargestOf(const StepRule& rule) {
  return rule.exact ? std::numeric_limits<double>::max() : MaxFinite(rule.format);
}

// Rounding of these bounds downwards; upwards: kBoundUp.
constexpr double kBoundDown = 1 - 0x1p-40;

double SizeOf(const Counted& x) { return std::abs(x.center().high) * kBoundUp + x.drift(); }
double RootOf(const Counted& x) {
  return std::sqrt(std::max(0.0, x.center().high * kBoundDown - x.drift())) * kBoundDown;
}

}  // namespace

NormedRow<Counted>::NormedRow(std::span<const Counted> x, const Counted& eps)
    : x_(x), factor_(MeanSquare(x, eps)), eps_root_(RootOf(eps)), root_(RootOf(factor_)) {
  {
    const ScopedStep at(Step::kRsqrt);
    factor_ = Counted(1.0) / Sqrt(factor_);
  }
  double largest = 0;
  {
    const ScopedStep at(Step::kSquare);
    for (const Counted& value : x) {
      errors_.push_back(Converted(value).error());
      largest = std::max(largest, SizeOf(value) + errors_.back());
    }
  }
  const StepRule sum = RuleOf(Step::kSum);
  SetRoot(sum.exact ? 0 : RelativeErrorOfSum(sum, x.size()).worst);
  const double narrow =
      std::min({LargestOf(RuleOf(Step::kSquare)), LargestOf(sum), LargestOf(RuleOf(Step::kRsqrt))});
  const double inverse = std::min(LargestOf(RuleOf(Step::kRsqrt)), LargestOf(RuleOf(Step::kScale)));
  const auto n = static_cast<double>(x.size());
  bounded_ = root_ > 0 && std::isfinite(relative_) && 2 / least_ < inverse &&
             2 * (n * largest * largest + SizeOf(eps)) < narrow &&
             n < LargestOf(RuleOf(Step::kRsqrt));
}

void NormedRow<Counted>::SetRoot(double sum_error) {
  const auto n = static_cast<double>(x_.size());
  double squares = 0, changes = 0;
  for (size_t k = 0; k < x_.size(); ++k) {
    squares += errors_[k] * errors_[k];
    changes += (2 * SizeOf(x_[k]) + errors_[k]) * errors_[k];
  }
  const double up = kBoundUp * (1 + n * 0x1p-52), length = std::sqrt(squares / n) * up;
  const double sum_of_roots = root_ + std::max(eps_root_, root_ - length);
  off_ = std::min(length, changes / n / sum_of_roots * up);
  least_ = std::max(eps_root_, (root_ - off_) * kBoundDown);
  const StepRule square = RuleOf(Step::kSquare), sum = RuleOf(Step::kSum);
  const StepRule rsqrt = RuleOf(Step::kRsqrt), scale = RuleOf(Step::kScale);
  const auto compounded = [](const StepRule& rule, int roundings) {
    return std::pow(1 - UnitOf(rule), -roundings);
  };
  const double growth =
      compounded(square, 1) * compounded(sum, 1) * (1 + sum_error) * compounded(rsqrt, 5);
  const double underflow = UnderflowOf(square) + 2 * UnderflowOf(sum) + 5 * UnderflowOf(rsqrt);
  const double of_square = growth - 1 + growth * underflow / (least_ * least_);
  relative_ = of_square < 0.5
                  ? compounded(rsqrt, 2) * compounded(scale, 2) / (1 - of_square) * kBoundUp - 1
                  : kInfinity;
}

// `read` is x_j as it is scaled.
double NormedRow<Counted>::ErrorOf(size_t j, const Counted& read) const {
  const double size = SizeOf(x_[j]), quotient = size / root_ * kBoundUp;
  // How far x'_j as it is scaled may be from what was squared: both are conversions of one number.
  const double apart = (errors_[j] + read.error()) * kBoundUp - 2 * x_[j].error();
  const double limit = std::sqrt(static_cast<double>(x_.size())) + apart / least_ + quotient;
  const double moved = std::min((read.error() + quotient * off_) / least_, limit);
  const double most = quotient + moved, largest = LargestOf(RuleOf(Step::kScale));
  if (!(2 * most < largest && size + read.error() < largest)) return kInfinity;
  const double underflow = UnderflowOf(RuleOf(Step::kScale)) * (1 + size + read.error());
  return (moved + most * relative_ + underflow) * kBoundUp;
}

Counted NormedRow<Counted>::Scaled(size_t j) const {
  static const Recipe kExact = ParseRecipe("exact", DType::kF64);
  const ScopedStep at(Step::kScale);
  const Counted read = Converted(x_[j]), y = read * factor_;
  if (!bounded_) return y;
  const double error = ErrorOf(j, read) + y.drift() + std::abs(y.center().high) * 0x1p-50;
  if (!(error < y.error())) return y;
  const ScopedRecipe exactly(kExact, DType::kF64);  // y' is a number: r' is not 0
  return Clamp(y, Counted(y.center().high - error), Counted(y.center().high + error));
}

Counted NormedRow<Counted>::operator()(size_t j, const Counted& w) const {
  const Counted scaled = Scaled(j);
  const ScopedStep at(Step::kWeigh);
  return scaled * w;
}

}  // namespace sextant
