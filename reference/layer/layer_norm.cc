#include "reference/layer/layer_norm.h"

#include <algorithm>

#include "reference/case/array_operation.h"
#include "reference/layer/normed_row_arrays.h"
#include "reference/number/lanes/each_number.h"

namespace sextant {
namespace {

// (x - mean) * unit for every x of a row.
template <class Real>
struct CenteredRow {
  std::vector<Real> values;
  double unit;
};

// Steps sum and center.
template <class Real>
Real MinusMean(const std::vector<Real>& x) {
  Real sum;
  {
    const ScopedStep at(Step::kSum);
    sum = SumOf(x);
  }
  const ScopedStep at(Step::kCenter);
  return -(sum / Real(static_cast<double>(x.size())));
}

// Functions for SetEach.
template <class Real>
auto Plus(const Real& b) {
  return [&b](auto) { return [&b](const auto& a) { return a + b; }; };
}
auto Added() {
  return [](auto) { return [](const auto& a, const auto& b) { return a + b; }; };
}

// The exact types compute M (x - mean) = M x - sum. This needs no division, so a result that their
// precision can represent is exact: for example 0 where all x are equal.
template <class Real>
CenteredRow<Real> Centered(const Tensor<Real>& x, size_t row) {
  const size_t M = x.shape[1];
  std::vector<Real> values;
  for (size_t k = 0; k < M; ++k) values.push_back(x(row, k));
  if constexpr (RealArithmetic<Real>) {
    const Real width(static_cast<double>(M)), sum = SumOf(values);
    for (Real& value : values) value = value * width - sum;
    return {std::move(values), static_cast<double>(M)};
  } else {
    const Real minus_mean = MinusMean<Real>(values);
    const ScopedStep at(Step::kCenter);
    SetEach(values, Plus(minus_mean), values);
    return {std::move(values), 1};
  }
}

// eps * unit^2
template <class Real>
Real ScaledEps(double eps, double unit) {
  const ScopedStep at(Step::kRsqrt);
  return Real(eps) * Real(unit) * Real(unit);
}

}  // namespace

void LayerNorm::Check() const {
  if (eps < 0) throw Error("eps is ", eps, ", expected 0 or more");
}

template <class Real>
void LayerNorm::operator()(const Tensor<Real>& x, const Tensor<Real>& weight,
                           const Tensor<Real>& bias, Tensor<Real>& y) const {
  if (x.shape[1] == 0) return;
  for (size_t n = 0; n < x.shape[0]; ++n) {
    const CenteredRow<Real> centered = Centered(x, n);
    const NormedRow<Real> row(centered.values, ScaledEps<Real>(eps, centered.unit));
    std::vector<Real> scaled(x.shape[1]);
    row.Weigh(weight.data, scaled);
    const ScopedStep at(Step::kBias);
    SetEach(scaled, Added(), scaled, bias.data);
    std::ranges::copy(scaled, &y(n, 0));
  }
}

namespace {

bool EvaluateInArrays(const LayerNorm& op, const Tensors& inputs, CountedOutput& y) {
  const auto& [name, type, x] = inputs[0];
  const size_t M = x.shape[1];
  if (M == 0 || !NormedRow<Counted>::TakesArrays(FormatAt(Step::kCenter))) return false;
  const ExactSpan bias(inputs[2]);
  NormedRow<Counted>::Weights weights{ExactSpan(inputs[1])};
  NormedRow<Counted>::Memory memory(M);
  CountedArrays row(M);
  const CountedSpan centered{row.numbers(), M, FormatAt(Step::kCenter)};
  y.format = FormatAt(Step::kBias);
  y.level_1 = this_context.double_centers;
  for (size_t begin = 0; begin < x.data.size(); begin += M) {
    const ExactSpan values{std::span(x.data).subspan(begin, M), type};
    const auto minus_mean = MinusMean<Counted>(CountedOf(values));
    const ScopedStep at(Step::kCenter);
    if (!SetEach(centered, Plus(minus_mean), values)) return false;
    const CountedSpan weighed{From(y.numbers.numbers(), begin), M, FormatAt(Step::kWeigh)};
    const NormedRow<Counted> normed(centered, ScaledEps<Counted>(op.eps, 1), memory);
    normed.Weigh(weights, weighed.numbers);
    const ScopedStep adding(Step::kBias);
    const CountedSpan result{weighed.numbers, M, y.format};
    if (!SetEach(result, Added(), weighed, bias)) return false;
  }
  return true;
}

}  // namespace

template <>
std::unique_ptr<Operation> MakeOperation<LayerNorm>() {
  return std::make_unique<ArrayOperation<LayerNorm>>(EvaluateInArrays);
}

}  // namespace sextant
