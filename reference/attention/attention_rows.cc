#include "reference/attention/attention_rows.h"

namespace sextant {

template <class Real>
AttentionRows<Real>::AttentionRows(const AttentionAttributes& op, const AttentionTensors<Real>& in)
    : op_(op),
      in_(in),
      score_function_(op, in.q.shape[3], in.add_bias),
      many_scores_(op, in.q.shape[3], in.add_bias),
      first_b_(SliceBegin("B")),
      first_h_(SliceBegin("H")),
      first_k_(SliceBegin("K")),
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
  return op_.KeyHeadOf(first_h_ + h) - first_k_;
}

template <class Real>
const DotRows<Real>& AttentionRows<Real>::PreparedKeys(size_t first_row) {
  if (!prepared_ || first_row != prepared_row_) {
    const size_t T = in_.k.shape[2], D = in_.k.shape[3];
    prepared_row_ = first_row;
    prepared_.emplace(std::span(in_.k.data).subspan(first_row * D, T * D), T);
  }
  return *prepared_;
}

template <class Real>
const ValueRows<Real>& AttentionRows<Real>::PreparedValues(size_t first_row) const {
  if (!values_ || first_row != values_row_) {
    const size_t T = in_.v.shape[2], E = in_.v.shape[3];
    values_row_ = first_row;
    values_.emplace(std::span(in_.v.data).subspan(first_row * E, T * E), T);
  }
  return *values_;
}

template <class Real>
std::vector<Real> AttentionRows<Real>::ScoresOf(const QueryIndex& at, const KeyRange& keys) {
  CheckScale(op_.scale, in_.q.shape[3]);
  const DotOperand<Real> query(RowAt(in_.q, QueryRow(at)));
  return ScoresAt(at, keys.first, PreparedKeys(KeyRow(at)).Times(query, keys.first, keys.last));
}

template <class Real>
std::vector<Real> AttentionRows<Real>::ScoresAt(const QueryIndex& at, size_t first,
                                                std::vector<Real> products) const {
  const auto function = [this](std::type_identity<Many>) {
    return [this](const Many& product, const auto&... bias) {
      return many_scores_(product, &bias...);
    };
  };
  if (in_.bias) {
    SetEach(products, function, products,
            RowAt(*in_.bias, QueryRow(at)).subspan(first, products.size()));
  } else {
    SetEach(products, function, products);
  }
  return products;
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
  std::ranges::fill(y, zero || in_.sink ? Real(0.0) : Unspecified<Real>());
  lse = zero ? EmptyLogSumExp<Real>() : Unspecified<Real>();
}

template <class Real>
void AttentionRows<Real>::Average(const QueryIndex& at, const ScoredKeys& scored, std::span<Real> y,
                                  Real& lse) const {
  std::vector<Real> scores = scored.scores;
  if (in_.sink) {
    const Real& sink = SinkOf(at);
    lse = SoftmaxRow<Real>(scores, Tiling::kAny).LogSumExp(&sink);
    scores.push_back(sink);
  }
  const SoftmaxRow<Real> weights(scores, Tiling::kAny);
  if (!in_.sink) lse = weights.LogSumExp();
  weights.Means(PreparedValues(ValueRow(at)), scored.keys, y);
}

template class AttentionRows<Interval>;
template class AttentionRows<Counted>;
template class AttentionRows<Rounded>;
template class AttentionRows<BoostReal>;

}  // namespace sextant
