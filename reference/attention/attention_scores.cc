#include "reference/attention/attention_scores.h"

#include "reference/attention/attention_rows.h"
#include "reference/case/operation.h"

namespace sextant {

void AttentionScores::Check() const { CheckSharing(H.value, K.value); }

template <class Real>
void AttentionScores::operator()(const Tensor<Real>& q, const Tensor<Real>& k,
                                 Tensor<Real>& scores) const {
  const size_t S = q.shape[2], T = k.shape[2];
  AttentionAttributes op;
  op.scale = scale;
  op.H = H;
  op.K = K;
  AttentionRows<Real> rows(op, {.q = q, .k = k, .v = k});
  for (size_t i = 0; T > 0 && i < q.shape[0] * q.shape[1] * S; ++i) {
    const QueryIndex at{i / (q.shape[1] * S), i / S % q.shape[1], i % S};
    const auto row = rows.ScoresOf(at, {0, T});
    std::ranges::copy(row, scores.data.begin() + static_cast<ptrdiff_t>(i * T));
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<AttentionScores>() {
  return Wrap<AttentionScores>();
}

}  // namespace sextant
