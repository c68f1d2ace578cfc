#include "oracle/attention/attention_mutant.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "oracle/attention/largest.h"

namespace sextant::oracle {
namespace {

// Answers one query with the mutation.
template <class Real>
class MutantRow {
 public:
  MutantRow(AttentionMutation mutation, const AttentionAttributes& op,
            const AttentionTensors<Real>& in)
      : mutation_(mutation), op_(op), in_(in), scaled_(op.scale, in.q.shape[3]) {}

  void Answer(const QueryAt& at, std::span<Real> y, Real& lse) const {
    const size_t T = in_.k.shape[2];
    const KeyRange keys = KeysOf(at);
    if (keys.IsEmpty()) return AnswerEmpty(at, y, lse);
    std::vector<Real> scores;
    for (size_t t = keys.first; t < keys.last; ++t) scores.push_back(ScoreAt(at, t));
    std::vector<size_t> read;
    for (size_t t = keys.first; t < keys.last; ++t) read.push_back(t);
    if (Is(AttentionMutation::kLastTileLost) && scores.size() > 1) {
      scores.resize(scores.size() / 2 * 2);
      read.resize(scores.size());
    }
    const std::optional<double> masked = MaskedScore();
    for (size_t t = 0; masked && t < T; ++t) {
      if (keys.first <= t && t < keys.last) continue;
      scores.push_back(Real(*masked));
      read.push_back(t);
    }
    if (Is(AttentionMutation::kCapAfterMax) && op_.soft_cap)
      scores = CappedAfterSubtraction(scores);
    const std::vector<Real> weights = WeightsOf(at, scores, read, lse);
    for (size_t e = 0; e < y.size(); ++e) {
      std::vector<Real> values;
      for (const size_t t : read) values.push_back(RowAt(in_.v, ValueRow(at) + t)[e]);
      y[e] = Dot<Real>(weights, values);
    }
  }

 private:
  bool Is(AttentionMutation m) const { return mutation_ == m; }

  // The score of a key that the query does not see; empty: the key is left out.
  std::optional<double> MaskedScore() const {
    if (Is(AttentionMutation::kFiniteMask)) return -1e4;
    if (Is(AttentionMutation::kCapAfterMask) && op_.soft_cap) return -*op_.soft_cap;
    return std::nullopt;
  }

  KeyRange KeysOf(const QueryAt& at) const {
    AttentionAttributes op = op_;
    size_t s = at.s;
    if (Is(AttentionMutation::kByCaseLength) && op.key_length) {
      const auto& lengths = *op.key_length;
      const int64_t length = lengths[lengths.size() == 1 ? 0 : at.b];
      op.key_length.reset();
      KeyRange keys = op.KeysOf(at.b, s);
      keys.last = std::min(keys.last, static_cast<size_t>(length));
      return keys.first < keys.last ? keys : KeyRange{};
    }
    if (Is(AttentionMutation::kChunkByQuery) && op.chunk) {
      const KeyRange unchunked_keys = [&] {
        AttentionAttributes unchunked = op;
        unchunked.chunk.reset();
        return unchunked.KeysOf(at.b, s);
      }();
      const auto C = static_cast<size_t>(*op.chunk);
      const KeyRange keys{std::max(unchunked_keys.first, s / C * C),
                          std::min(unchunked_keys.last, (s / C + 1) * C)};
      return keys.first < keys.last ? keys : KeyRange{};
    }
    KeyRange keys = op.KeysOf(at.b, s);
    if (op.mask != Mask::kCausal) return keys;
    if (Is(AttentionMutation::kSelfMasked) && keys.size() > 1 && keys.last == OwnKey(at) + 1)
      --keys.last;
    if (Is(AttentionMutation::kNextLeaked)) {
      op.mask = Mask::kNone;
      keys.last = std::min(keys.last + 1, std::max(keys.last, op.KeysOf(at.b, s).last));
    }
    return keys;
  }

  // The index of the query's own key, which may be beyond the keys that the query sees.
  size_t OwnKey(const QueryAt& at) const {
    if (op_.align == Align::kTopLeft) return at.s;
    const int64_t length =
        op_.key_length ? (*op_.key_length)[op_.key_length->size() == 1 ? 0 : at.b] : op_.T.value;
    return static_cast<size_t>(static_cast<int64_t>(at.s) + length - op_.S.value);
  }

  void AnswerEmpty(const QueryAt& at, std::span<Real> y, Real& lse) const {
    if (op_.empty_rows == EmptyRows::kUnspecified) return;
    const size_t T = in_.k.shape[2];
    for (size_t e = 0; e < y.size(); ++e) {
      y[e] = Real(0.0);
      if (!Is(AttentionMutation::kMeanOfEmpty) || T == 0) continue;
      for (size_t t = 0; t < T; ++t) {
        y[e] = y[e] + RowAt(in_.v, ValueRow(at) + t)[e] / Real(static_cast<double>(T));
      }
    }
    lse = EmptyLogSumExp<Real>();
    if (Is(AttentionMutation::kEmptyLsePositive)) lse = -lse;
  }

  size_t RowOfHead(const QueryAt& at, bool tiled) const {
    const size_t K = in_.k.shape[1];
    return (at.b * K + (tiled ? at.h % K : op_.KeyHeadOf(at.h))) * in_.k.shape[2];
  }
  size_t KeyRow(const QueryAt& at) const {
    return RowOfHead(at, Is(AttentionMutation::kKeyHeadsTiled));
  }
  size_t ValueRow(const QueryAt& at) const {
    return RowOfHead(
        at, Is(AttentionMutation::kKeyHeadsTiled) || Is(AttentionMutation::kValueHeadsTiled));
  }
  size_t QueryRow(const QueryAt& at) const {
    return (at.b * in_.q.shape[1] + at.h) * in_.q.shape[2] + at.s;
  }

  Real Capped(const Real& score) const { return SoftCapping<Real>(*op_.soft_cap)(score); }
  static Real Stored(const Real& score) {
    const ScopedStep at(Step::kScore);
    return Converted(score);
  }
  Real Plus(const Real& score, const Real& bias) const {
    Real sum;
    {
      const ScopedStep at(Step::kBias);
      sum = Is(AttentionMutation::kBiasSubtracted) ? score - bias : score + bias;
    }
    return Stored(sum);
  }
  Real BiasAt(QueryAt at, size_t t) const {
    if (Is(AttentionMutation::kBiasOfFirstHead)) at.h = 0;
    if (Is(AttentionMutation::kBiasOfFirstQuery)) at.s = 0;
    return RowAt(*in_.bias, QueryRow(at))[t];
  }

  Real ScoreAt(const QueryAt& at, size_t t) const {
    const bool biased = in_.bias && !Is(AttentionMutation::kBiasAfterSoftmax);
    Real score = Stored(Dot(RowAt(in_.q, QueryRow(at)), RowAt(in_.k, KeyRow(at) + t)));
    if (biased && in_.scale_bias) score = Plus(score, BiasAt(at, t));
    const bool caps = op_.soft_cap && !Is(AttentionMutation::kCapAfterMax) &&
                      !(Is(AttentionMutation::kCapNotInFirstTile) && t < 2);
    if (caps && Is(AttentionMutation::kCapBeforeScale)) {
      return Stored(scaled_(Stored(Capped(score))));
    }
    score = Stored(scaled_(score));
    const bool early = Is(AttentionMutation::kBiasBeforeCap);
    if (biased && !in_.scale_bias && early) score = Plus(score, BiasAt(at, t));
    if (caps) score = Stored(Capped(score));
    if (caps && Is(AttentionMutation::kCapNotScaledBack)) score = score / Real(*op_.soft_cap);
    return biased && !in_.scale_bias && !early ? Plus(score, BiasAt(at, t)) : score;
  }

  std::vector<Real> CappedAfterSubtraction(std::vector<Real> scores) const {
    const Real largest = scores[LargestIn<Real>(scores)];
    for (Real& score : scores) score = Capped(score - largest) + largest;
    return scores;
  }

  std::vector<Real> WeightsOf(const QueryAt& at, const std::vector<Real>& scores,
                              const std::vector<size_t>& read, Real& lse) const {
    const SoftmaxRow<Real> row(scores);
    lse = LseOf(row, scores);
    if (Is(AttentionMutation::kNoSoftmax)) return scores;
    if (Is(AttentionMutation::kOverQueries)) return OverQueries(at, read);
    if (Is(AttentionMutation::kNoRescale) || Is(AttentionMutation::kSumNotRescaled)) {
      return NotRescaled(at, scores, lse);
    }
    std::vector<Real> all = scores;
    if (Is(AttentionMutation::kPaddedLanes)) {
      while (all.size() % 8 != 0) all.emplace_back(0.0);
    }
    if (in_.sink) all.push_back(SinkOf(at));
    if (in_.sink && Is(AttentionMutation::kLseOfSink)) lse = SoftmaxRow<Real>(all).LogOfSum();
    std::vector<Real> weights = SoftmaxRow<Real>(all).weights();
    const Real rest = weights.back();
    weights.resize(scores.size());
    for (size_t j = 0; j < weights.size(); ++j) {
      const ScopedStep in(Step::kWeigh);
      if (in_.sink && Is(AttentionMutation::kSinkTwice))
        weights[j] = weights[j] * (Real(1.0) - rest);
      if (in_.bias && Is(AttentionMutation::kBiasAfterSoftmax)) {
        weights[j] = weights[j] + BiasAt(at, read[j]);
      }
      weights[j] = Converted(weights[j]);
    }
    return weights;
  }

  Real LseOf(const SoftmaxRow<Real>& row, const std::vector<Real>& scores) const {
    const ScopedStep at(Step::kSoftmax);
    const Real lse = row.LogOfSum();
    if (Is(AttentionMutation::kLseBase2)) return lse / Log(Real(2.0));
    if (Is(AttentionMutation::kLseLessLargest)) return lse - scores[LargestIn<Real>(scores)];
    return lse;
  }

  Real SinkOf(QueryAt at) const {
    if (Is(AttentionMutation::kSinkOfFirstHead)) at.h = 0;
    if (Is(AttentionMutation::kSinkOfKeyHead)) at.h = op_.KeyHeadOf(at.h);
    const Real sink = (*in_.sink)(at.h);
    if (Is(AttentionMutation::kSinkScaled)) return scaled_(sink);
    return Is(AttentionMutation::kSinkSubtracted) ? -sink : sink;
  }

  // The weights of a softmax over all queries, and the sink.
  std::vector<Real> OverQueries(const QueryAt& at, const std::vector<size_t>& read) const {
    std::vector<Real> weights;
    for (const size_t t : read) {
      std::vector<Real> column;
      for (size_t s = 0; s < in_.q.shape[2]; ++s) column.push_back(ScoreAt({at.b, at.h, s}, t));
      if (in_.sink) column.push_back(SinkOf(at));
      weights.push_back(SoftmaxRow<Real>(column).weights()[at.s]);
    }
    return weights;
  }

  // The weights of an online softmax over tiles of two keys that does not rescale earlier tiles by
  // e^(m - m'). lse uses the same sum. The sink is added last.
  std::vector<Real> NotRescaled(const QueryAt& query, const std::vector<Real>& scores,
                                Real& lse) const {
    const ScopedStep at(Step::kSoftmax);
    const size_t n = scores.size(), last = LargestIn<Real>(scores);
    std::vector<Real> weights, summed;
    for (size_t j = 0; j < n; ++j) {
      const size_t largest = LargestIn<Real>(std::span(scores).first(std::min(n, j / 2 * 2 + 2)));
      summed.push_back(Exp(scores[j] - scores[largest]));
      weights.push_back(Is(AttentionMutation::kSumNotRescaled) ? Exp(scores[j] - scores[last])
                                                               : summed.back());
    }
    lse = scores[last] + Log(SumOf(summed));
    if (in_.sink) summed.push_back(Exp(SinkOf(query) - scores[last]));
    const Real sum = SumOf(summed);
    for (Real& weight : weights) weight = weight / sum;
    return weights;
  }

  AttentionMutation mutation_;
  const AttentionAttributes& op_;
  const AttentionTensors<Real>& in_;
  ScoreScale<Real> scaled_;
};

}  // namespace

template <class Real>
void AttendMutant(AttentionMutation mutation, const AttentionAttributes& op,
                  const AttentionTensors<Real>& in, Tensor<Real>& y, Tensor<Real>& lse) {
  const size_t H = in.q.shape[1], S = in.q.shape[2], E = in.v.shape[3];
  const MutantRow<Real> row(mutation, op, in);
  for (size_t i = 0; i < lse.data.size(); ++i) {
    row.Answer({i / (H * S), i / S % H, i % S}, std::span(y.data).subspan(i * E, E), lse.data[i]);
  }
}

template void AttendMutant(AttentionMutation, const AttentionAttributes&,
                           const AttentionTensors<Counted>&, Tensor<Counted>&, Tensor<Counted>&);
template void AttendMutant(AttentionMutation, const AttentionAttributes&,
                           const AttentionTensors<Rounded>&, Tensor<Rounded>&, Tensor<Rounded>&);

}  // namespace sextant::oracle
