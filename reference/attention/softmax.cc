#include "reference/attention/softmax.h"

#include <cmath>
#include <limits>
#include <span>

#include "reference/attention/empty_log_sum_exp.h"
#include "reference/attention/softmax_row.h"
#include "reference/case/array_operation.h"

namespace sextant {

template <class Real>
void Softmax::operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
  const size_t N = x.shape[0], M = x.shape[1];
  for (size_t n = 0; n < N; ++n) {
    const std::span<const Real> scores(x.data.data() + n * M, M);
    std::vector<size_t> unmasked;
    bool specified = false;
    for (size_t j = 0; j < M; ++j) {
      if (IsEmptyLogSumExp(scores[j])) continue;  // masked: weight 0
      specified = (unmasked.empty() || specified) && std::isfinite(ValueOf(scores[j]));
      unmasked.push_back(j);
    }
    if (unmasked.size() == M) {
      const SoftmaxRow<Real> row(scores);
      for (size_t j = 0; j < M; ++j) y(n, j) = row.Weight(j);
      continue;
    }
    std::vector<Real> kept;
    for (const size_t j : unmasked) kept.push_back(scores[j]);
    const Real masked(specified ? 0 : std::numeric_limits<double>::quiet_NaN());
    for (size_t j = 0; j < M; ++j) y(n, j) = masked;
    const SoftmaxRow<Real> row(kept);
    for (size_t i = 0; i < unmasked.size(); ++i) y(n, unmasked[i]) = row.Weight(i);
  }
}

namespace {

bool EvaluateSoftmaxInArrays(const Softmax&, const Tensors& inputs, CountedOutput& y) {
  const auto& [name, type, x] = inputs[0];
  const size_t M = x.shape[1];
  if (M == 0 || !SoftmaxRow<Counted>::TakesExact(type)) return false;
  y.level_1 = this_context.double_centers;
  SoftmaxRow<Counted> row;
  for (size_t begin = 0; begin < x.data.size(); begin += M) {
    row.SetExact({std::span(x.data).subspan(begin, M), type}, From(y.numbers.numbers(), begin));
    y.format = row.format();
  }
  return true;
}

}  // namespace

template <>
std::unique_ptr<Operation> MakeOperation<Softmax>() {
  return std::make_unique<ArrayOperation<Softmax>>(EvaluateSoftmaxInArrays);
}

}  // namespace sextant
