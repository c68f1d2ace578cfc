#include "reference/attention/attention_rows.h"

namespace sextant {

template <class Real>
AttentionRows<Real>::AttentionRows(const AttentionAttributes& op, const AttentionTensors<Real>& in)
    : op_(op),
      in_(in),
      score_function_(op, in.q.shape[3], in.scale_bias),
      first_b_(SliceBegin("B")),
      first_h_(SliceBegin("H")),
      first_s_(SliceBegin("S")) {}

template <class Real>
void AttentionRows<Real>::Answer(Tensor<Real>& y, Tensor<Real>& lse) {
  const size_t H = in_.q.shape[1], S = in_.q.shape[2], E = in_.v.shape[3];
  for (size_t i = 0; i < lse.data.size(); ++i) {
    const QueryIndex at{i / (H * S), i / S % H, i % S};
    const std::span<Real> row = std::span(y.data).subspan(i * E, E);
    const KeyRange keys = KeysOf(at);
    if (keys.IsEmpty()) {
      AnswerEmpty(at, row, lse.data[i]);
    } else {
      Average(at, Scored(at, keys), row, lse.data[i]);
    }
  }
}

template <class Real>
KeyRange AttentionRows<Real>::KeysOf(const QueryIndex& at) const {
  return op_.KeysOf(first_b_ + at.b, first_s_ + at.s);
}

template <class Real>
size_t AttentionRows<Real>::KeyHeadOf(size_t h) const {
  return op_.KeyHeadOf(first_h_ + h);
}

template <class Real>
std::span<const DotOperand<Real>> AttentionRows<Real>::PreparedKeys(size_t first_row) {
  if (prepared_.empty() || first_row != prepared_row_) {
    prepared_row_ = first_row;
    prepared_.clear();
    for (size_t t = 0; t < in_.k.shape[2]; ++t) prepared_.emplace_back(RowAt(in_.k, first_row + t));
  }
  return prepared_;
}

template <class Real>
std::vector<Real> AttentionRows<Real>::ScoresOf(const QueryIndex& at, const KeyRange& keys) {
  CheckScale(op_.scale, in_.q.shape[3]);
  const auto rows = PreparedKeys(KeyRow(at));
  const DotOperand<Real> query(RowAt(in_.q, QueryRow(at)));
  std::vector<Real> scores;
  scores.reserve(keys.size());
  for (size_t t = keys.first; t < keys.last; ++t)
    scores.push_back(ScoreAt(at, t, Dot(query, rows[t])));
  return scores;
}

template <class Real>
Real AttentionRows<Real>::ScoreAt(const QueryIndex& at, size_t t, const Real& product) const {
  return score_function_(product, in_.bias ? &RowAt(*in_.bias, QueryRow(at))[t] : nullptr);
}

template <class Real>
auto AttentionRows<Real>::Scored(const QueryIndex& at, const KeyRange& keys) -> ScoredKeys {
  ScoredKeys scored;
  for (size_t t = keys.first; t < keys.last; ++t) scored.keys.push_back(t);
  scored.scores = ScoresOf(at, keys);
  return scored;
}

template <class Real>
void AttentionRows<Real>::AnswerEmpty(const QueryIndex&, std::span<Real> y, Real& lse) const {
  const bool zero = op_.empty_rows == EmptyRows::kZero;
  std::ranges::fill(y, zero ? Real(0.0) : Unspecified<Real>());
  lse = zero ? EmptyLogSumExp<Real>() : Unspecified<Real>();
}

template <class Real>
void AttentionRows<Real>::Average(const QueryIndex& at, const ScoredKeys& scored, std::span<Real> y,
                                  Real& lse) const {
  std::vector<Real> scores = scored.scores;
  if (in_.sink) {
    lse = SoftmaxRow<Real>(scores, Tiling::kAny).LogSumExp();
    scores.push_back(SinkOf(at));
  }
  const SoftmaxRow<Real> weights(scores, Tiling::kAny);
  if (!in_.sink) lse = weights.LogSumExp();
  std::vector<Real> values(scores.size(), Real(0.0));
  for (size_t e = 0; e < y.size(); ++e) {
    for (size_t j = 0; j < scored.keys.size(); ++j) values[j] = ValueAt(at, scored.keys[j])[e];
    y[e] = weights.Mean(values);
  }
}

template class AttentionRows<Interval>;
template class AttentionRows<Counted>;
template class AttentionRows<Rounded>;
template class AttentionRows<BoostReal>;

}  // namespace sextant
