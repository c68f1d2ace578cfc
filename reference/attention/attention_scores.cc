#include "reference/attention/attention_scores.h"

#include "reference/attention/attention_rows.h"
#include "reference/case/operation.h"

namespace sextant {

void AttentionScores::Check() const { CheckSharing(H.value, K.value); }

template <class Real>
void AttentionScores::operator()(const Tensor<Real>& q, const Tensor<Real>& k,
                                 Tensor<Real>& scores) const {
  const size_t S = q.shape[2], T = k.shape[2], first_h = FirstOf("H");
  AttentionAttributes op;
  op.scale = scale;
  op.H = H;
  op.K = K;
  const ScoreOf<Real> score_of(op, q.shape[3]);
  KeyRows<Real> rows(k);
  for (size_t i = 0; T > 0 && i < q.shape[0] * q.shape[1] * S; ++i) {
    const QueryAt at{i / (q.shape[1] * S), i / S % q.shape[1], i % S};
    CheckScale(scale, q.shape[3]);
    const size_t key_row = (at.b * k.shape[1] + op.KeyHeadOf(first_h + at.h)) * T;
    const auto row =
        ScoresOf<Real>({.q = q, .k = k, .v = k}, score_of, i, rows.At(key_row), {0, T});
    std::ranges::copy(row, scores.data.begin() + static_cast<ptrdiff_t>(i * T));
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<AttentionScores>() {
  return Wrap<AttentionScores>();
}

}  // namespace sextant
