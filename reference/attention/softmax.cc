#include "reference/attention/softmax.h"

#include <cmath>
#include <limits>

#include "reference/attention/empty_log_sum_exp.h"
#include "reference/attention/softmax_row.h"
#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void Softmax::operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
  const size_t N = x.shape[0], M = x.shape[1];
  for (size_t n = 0; n < N; ++n) {
    std::vector<Real> scores;
    std::vector<size_t> unmasked;
    bool specified = false;
    for (size_t j = 0; j < M; ++j) {
      if (IsEmptyLogSumExp(x(n, j))) continue;  // masked: weight 0
      specified = (unmasked.empty() || specified) && std::isfinite(ValueOf(x(n, j)));
      scores.push_back(x(n, j));
      unmasked.push_back(j);
    }
    const Real masked(specified ? 0 : std::numeric_limits<double>::quiet_NaN());
    for (size_t j = 0; j < M; ++j) y(n, j) = masked;
    const SoftmaxRow<Real> row(scores);
    for (size_t i = 0; i < unmasked.size(); ++i) y(n, unmasked[i]) = row.weights()[i];
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<Softmax>() {
  return Wrap<Softmax>();
}

}  // namespace sextant
