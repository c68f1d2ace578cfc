#include "reference/attention/attention_merge.h"

#include "reference/attention/empty_log_sum_exp.h"
#include "reference/attention/softmax_row.h"
#include "reference/case/operation.h"

namespace sextant {

template <class Real>
void AttentionMerge::operator()(const Tensor<Real>& y1, const Tensor<Real>& lse1,
                                const Tensor<Real>& y2, const Tensor<Real>& lse2, Tensor<Real>& y,
                                Tensor<Real>& lse) const {
  const size_t E = y.shape[1];
  for (size_t n = 0; n < y.shape[0]; ++n) {
    std::vector<Real> scores;
    std::vector<const Tensor<Real>*> parts;
    for (const auto& [part, part_lse] : {std::pair{&y1, &lse1}, {&y2, &lse2}}) {
      if (IsEmptyLogSumExp((*part_lse)(n))) continue;
      scores.push_back((*part_lse)(n));
      parts.push_back(part);
    }
    if (parts.empty()) {
      if (empty_rows == EmptyRows::kUnspecified) continue;
      for (size_t e = 0; e < E; ++e) y(n, e) = Real(0.0);
      lse(n) = EmptyLogSumExp<Real>();
      continue;
    }
    const SoftmaxRow<Real> weights(scores, Tiling::kAny);
    lse(n) = weights.LogSumExp();
    for (size_t e = 0; e < E; ++e) {
      std::vector<Real> values;
      for (const Tensor<Real>* part : parts) values.push_back((*part)(n, e));
      y(n, e) = weights.Mean(values);
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<AttentionMerge>() {
  return Wrap<AttentionMerge>();
}

}  // namespace sextant
