#include "reference/layer/layer_norm.h"

#include <algorithm>

#include "reference/case/operation.h"
#include "reference/layer/normed_row.h"
#include "reference/number/lanes/each_number.h"

namespace sextant {
namespace {

// (x - mean) * unit for every x of a row.
template <class Real>
struct CenteredRow {
  std::vector<Real> values;
  double unit;
};

// The exact types compute M (x - mean) = M x - sum. This needs no division, so a result that their
// precision can represent is exact: for example 0 where all x are equal.
template <class Real>
CenteredRow<Real> Centered(const Tensor<Real>& x, size_t row) {
  const size_t M = x.shape[1];
  const Real width(static_cast<double>(M));
  std::vector<Real> values;
  for (size_t k = 0; k < M; ++k) values.push_back(x(row, k));
  Real sum;
  {
    const ScopedStep at(Step::kSum);
    sum = SumOf(values);
  }
  const ScopedStep at(Step::kCenter);
  if constexpr (RealArithmetic<Real>) {
    for (Real& value : values) value = value * width - sum;
    return {std::move(values), static_cast<double>(M)};
  } else {
    const Real minus_mean = -(sum / width);
    SetEach(
        values, [&](auto) { return [&](const auto& x_k) { return x_k + minus_mean; }; }, values);
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
    SetEach(
        scaled, [](auto) { return [](const auto& a, const auto& b) { return a + b; }; }, scaled,
        bias.data);
    std::ranges::copy(scaled, &y(n, 0));
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<LayerNorm>() {
  return Wrap<LayerNorm>();
}

}  // namespace sextant
