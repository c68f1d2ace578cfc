#include "reference/attention/attention_rows.h"

namespace sextant {

template <class Real>
void Attend(const AttentionAttributes& op, const AttentionTensors<Real>& in, Tensor<Real>& y,
            Tensor<Real>& lse) {
  const size_t B = in.q.shape[0], H = in.q.shape[1], S = in.q.shape[2], D = in.q.shape[3];
  const size_t K = in.k.shape[1], T = in.k.shape[2], E = in.v.shape[3];
  const size_t first_b = FirstOf("B"), first_h = FirstOf("H"), first_s = FirstOf("S");
  const ScoreOf<Real> score_of(op, D, in.scale_bias);
  KeyRows<Real> rows(in.k);
  std::vector<Real> values;
  for (size_t i = 0; i < B * H * S; ++i) {
    const QueryAt at{i / (H * S), i / S % H, i % S};
    const KeyRange keys = op.KeysOf(first_b + at.b, first_s + at.s);
    if (keys.IsEmpty()) {
      if (op.empty_rows == EmptyRows::kUnspecified) continue;
      for (size_t e = 0; e < E; ++e) y.data[i * E + e] = Real(0.0);
      lse.data[i] = EmptyLogSumExp<Real>();
      continue;
    }
    CheckScale(op.scale, D);
    const size_t key_row = (at.b * K + op.KeyHeadOf(first_h + at.h)) * T;
    std::vector<Real> scores = ScoresOf(in, score_of, i, rows.At(key_row), keys);
    if (in.sink) {
      lse.data[i] = SoftmaxRow<Real>(scores, Tiling::kAny).LogOfSum();
      scores.push_back((*in.sink)(at.h));
    }
    const SoftmaxRow<Real> weights(scores, Tiling::kAny);
    if (!in.sink) lse.data[i] = weights.LogOfSum();
    for (size_t e = 0; e < E; ++e) {
      values.clear();
      for (size_t t = keys.first; t < keys.last; ++t) values.push_back(RowAt(in.v, key_row + t)[e]);
      if (in.sink) values.emplace_back(0.0);
      y.data[i * E + e] = weights.Mean(values);
    }
  }
}

template void Attend(const AttentionAttributes&, const AttentionTensors<Interval>&,
                     Tensor<Interval>&, Tensor<Interval>&);
template void Attend(const AttentionAttributes&, const AttentionTensors<Counted>&, Tensor<Counted>&,
                     Tensor<Counted>&);
template void Attend(const AttentionAttributes&, const AttentionTensors<Rounded>&, Tensor<Rounded>&,
                     Tensor<Rounded>&);
template void Attend(const AttentionAttributes&, const AttentionTensors<BoostReal>&,
                     Tensor<BoostReal>&, Tensor<BoostReal>&);

}  // namespace sextant
