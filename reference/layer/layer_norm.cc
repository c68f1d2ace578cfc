#include "reference/layer/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "reference/case/array_operation.h"
#include "reference/layer/centered_row.h"
#include "reference/layer/normed_row.h"
#include "reference/layer/normed_row_steps.h"
#include "reference/number/lanes/each_number.h"

namespace sextant {
namespace {

// (x - mean) * unit for every x of a row.
template <class Real>
struct CenteredRow {
  std::vector<Real> values;
  double unit;
};

template <class Real>
Real MinusMean(const Real& sum, size_t count) {
  const ScopedStep at(Step::kCenter);
  return -(sum / Real(static_cast<double>(count)));
}
// Steps sum and center.
template <class Real>
Real MinusMean(const std::vector<Real>& x) {
  const auto sum = [&] {
    const ScopedStep at(Step::kSum);
    return SumOf(x);
  };
  return MinusMean<Real>(sum(), x.size());
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
    const Real minus_mean = MinusMean(values);
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

// The rows of a case in arrays. Each is centred, normed, weighed and added to the bias in the same
// memory.
class Rows {
 public:
  Rows(const LayerNorm& op, const Tensors& inputs, CountedOutput& y)
      : op_(op),
        x_{inputs[0]},
        bias_(inputs[2]),
        y_(y),
        weights_(ExactSpan(inputs[1])),
        memory_(bias_.values.size()),
        arrays_(bias_.values.size()),
        centered_{arrays_.numbers(), arrays_.size(), FormatAt(Step::kCenter)} {
    y.format = FormatAt(Step::kBias);
    y.level_1 = this_context.double_centers;
  }

  // False if a row is not for arrays.
  bool Evaluate() {
    const size_t M = centered_.count;
    const bool by_doubles = TakesDoubles();
    for (size_t begin = 0; begin < x_.values.size(); begin += M) {
      const CountedSpan result{From(y_.numbers.numbers(), begin), M, FormatAt(Step::kWeigh)};
      if (!(by_doubles && EvaluateByDoubles(x_.Part(begin, M), result)) &&
          !EvaluateRow(x_.Part(begin, M), result))
        return false;
    }
    return true;
  }

 private:
  // Whether the passes of centered_row.h are for these types and rules.
  bool TakesDoubles() const {
    const StepRule square = RuleOf(Step::kSquare), sum = RuleOf(Step::kSum);
    const auto takes = [](Step step, const ExactSpan& values) {
      const StepRule rule = RuleOf(step);
      return !rule.flushes && (rule.exact || Contains(rule.format, values.type));
    };
    return this_context.double_centers && takes(Step::kSum, x_) && takes(Step::kCenter, x_) &&
           takes(Step::kBias, bias_) && !square.flushes &&
           (sum.exact || (!square.exact && Contains(sum.format, square.format)));
  }

  bool EvaluateByDoubles(const ExactSpan& x, const CountedSpan& result) {
    const auto sum = [&] {
      const ScopedStep at(Step::kSum);
      return SumOfExact(x).Total();
    };
    const Counted minus_mean = MinusMean(sum(), x.values.size());
    if (!(minus_mean.drift() > 0 && std::isfinite(minus_mean.error() + minus_mean.drift())))
      return false;
    const StepRule center = RuleOf(Step::kCenter), square = RuleOf(Step::kSquare);
    const CenteredSums sums =
        CenterRow(x, minus_mean, {center, square}, centered_.numbers, memory_.size);
    NormedRow<Counted>(centered_, sums, ScaledEps<Counted>(op_.eps, 1), memory_)
        .Weigh(weights_, result.numbers);
    return AddExact(bias_.values, RuleOf(Step::kBias), result);
  }

  bool EvaluateRow(const ExactSpan& x, const CountedSpan& result) {
    const auto minus_mean = MinusMean(CountedOf(x));
    {
      const ScopedStep at(Step::kCenter);
      if (!SetEach(centered_, Plus(minus_mean), x)) return false;
    }
    NormedRow<Counted>(centered_, ScaledEps<Counted>(op_.eps, 1), memory_)
        .Weigh(weights_, result.numbers);
    const ScopedStep adding(Step::kBias);
    return SetEach({result.numbers, result.count, y_.format}, Added(), result, bias_);
  }

  const LayerNorm& op_;
  const ExactSpan x_, bias_;
  CountedOutput& y_;
  NormedRow<Counted>::Weights weights_;
  NormedRow<Counted>::Memory memory_;
  CountedArrays arrays_;
  const CountedSpan centered_;
};

bool EvaluateLayerNormInArrays(const LayerNorm& op, const Tensors& inputs, CountedOutput& y) {
  if (inputs[0].values.shape[1] == 0 || !NormedRow<Counted>::TakesArrays(FormatAt(Step::kCenter)))
    return false;
  return Rows(op, inputs, y).Evaluate();
}

}  // namespace

template <>
std::unique_ptr<Operation> MakeOperation<LayerNorm>() {
  return std::make_unique<ArrayOperation<LayerNorm>>(EvaluateLayerNormInArrays);
}

}  // namespace sextant
