#include "oracle/attention/attention_mutation.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "oracle/attention/arg_max_score.h"
#include "oracle/defect/defect.h"

namespace sextant::oracle {
namespace {

using enum AttentionMutation;

template <class Real>
class MutatedRows : public AttentionRows<Real> {
 public:
  MutatedRows(AttentionMutation mutation, const AttentionAttributes& op,
              const AttentionTensors<Real>& in)
      : Formula(op, in), mutation_(mutation) {}

 private:
  using Formula = AttentionRows<Real>;
  using Formula::in_, Formula::op_;
  using typename Formula::ScoredKeys;

  bool Is(AttentionMutation m) const { return mutation_ == m; }

  KeyRange KeysOf(const QueryIndex& at) const override {
    AttentionAttributes op = op_;
    if (Is(kByCaseLength) && op.key_length) {
      const auto length = static_cast<size_t>(op.KeyLength(at.b));
      op.key_length.reset();
      const KeyRange keys = op.KeysOf(at.b, at.s);
      return RangeOf(keys.first, std::min(keys.last, length));
    }
    if (Is(kChunkByQuery) && op.chunk) {
      op.chunk.reset();
      const KeyRange keys = op.KeysOf(at.b, at.s);
      const auto C = static_cast<size_t>(*op_.chunk);
      return RangeOf(std::max(keys.first, at.s / C * C), std::min(keys.last, (at.s / C + 1) * C));
    }
    KeyRange keys = Formula::KeysOf(at);
    if (op.mask != Mask::kCausal) return keys;
    if (Is(kSelfMasked) && keys.size() > 1 && keys.last == OwnKey(at) + 1) --keys.last;
    if (Is(kNextLeaked)) {
      op.mask = Mask::kNone;
      keys.last = std::min(keys.last + 1, std::max(keys.last, op.KeysOf(at.b, at.s).last));
    }
    return keys;
  }
  static KeyRange RangeOf(size_t first, size_t last) {
    return first < last ? KeyRange{first, last} : KeyRange{};
  }

  // The index of the query's own key, which may be beyond the keys that the query sees.
  size_t OwnKey(const QueryIndex& at) const {
    return static_cast<size_t>(static_cast<int64_t>(at.s) + op_.FirstIndex(at.b));
  }

  size_t Tiled(size_t h) const { return h % in_.k.shape[1]; }
  size_t KeyHeadOf(size_t h) const override {
    return Is(kKeyHeadsTiled) ? Tiled(h) : Formula::KeyHeadOf(h);
  }
  size_t ValueHeadOf(size_t h) const override {
    return Is(kKeyHeadsTiled) || Is(kValueHeadsTiled) ? Tiled(h) : Formula::ValueHeadOf(h);
  }

  void AnswerEmpty(const QueryIndex& at, std::span<Real> y, Real& lse) const override {
    Formula::AnswerEmpty(at, y, lse);
    if (op_.empty_rows == EmptyRows::kUnspecified) return;
    if (Is(kEmptyLsePositive)) lse = -lse;
    if (!Is(kMeanOfEmpty)) return;
    const size_t T = in_.k.shape[2];
    for (size_t e = 0; e < y.size(); ++e) {
      for (size_t t = 0; t < T; ++t)
        y[e] = y[e] + this->ValueAt(at, t)[e] / Real(static_cast<double>(T));
    }
  }

  Real BiasAt(QueryIndex at, size_t t) const {
    if (Is(kBiasOfFirstHead)) at.h = 0;
    if (Is(kBiasOfFirstQuery)) at.s = 0;
    const Real& bias = RowAt(*in_.bias, this->QueryRow(at))[t];
    return Is(kBiasSubtracted) ? -bias : bias;
  }

  // The steps of the score of key t.
  std::vector<ScoreStep> OrderOf(size_t t) const {
    std::vector<ScoreStep> order = this->score_function_.order();
    const auto position = [&](ScoreStep step) { return std::ranges::find(order, step); };
    if (Is(kCapBeforeScale)) {
      order.erase(position(ScoreStep::kCap));
      order.insert(position(ScoreStep::kScale), ScoreStep::kCap);
    }
    if (Is(kCapAfterMax) || (Is(kCapNotInFirstTile) && t < 2)) std::erase(order, ScoreStep::kCap);
    return order;
  }

  std::vector<Real> ScoresAt(const QueryIndex& at, size_t first,
                             std::vector<Real> products) const override {
    for (size_t i = 0; i < products.size(); ++i) products[i] = ScoreAt(at, first + i, products[i]);
    return products;
  }

  Real ScoreAt(const QueryIndex& at, size_t t, const Real& product) const {
    const ScoreFunction<Real>& score_function = this->score_function_;
    const bool biased = in_.bias && !Is(kBiasAfterSoftmax);
    const Real bias = biased ? BiasAt(at, t) : Real(0.0);
    Real score = score_function.Start(product);
    for (const ScoreStep step : OrderOf(t)) {
      score = score_function.After(step, score, biased ? &bias : nullptr);
      if (step == ScoreStep::kCap && op_.soft_cap && Is(kCapNotScaledBack))
        score = score / Real(*op_.soft_cap);
    }
    return score;
  }

  // The score of a key that the query does not see; empty: the key is left out.
  std::optional<double> MaskedScore() const {
    if (Is(kFiniteMask)) return -1e4;
    if (Is(kCapAfterMask) && op_.soft_cap) return -*op_.soft_cap;
    return std::nullopt;
  }

  ScoredKeys Scored(const QueryIndex& at, const KeyRange& keys) override {
    ScoredKeys scored = Formula::Scored(at, keys);
    if (Is(kLastTileLost) && keys.size() > 1) {
      scored.keys.resize(keys.size() / 2 * 2);
      scored.scores.resize(scored.keys.size());
    }
    const std::optional<double> masked = MaskedScore();
    for (size_t t = 0; masked && t < in_.k.shape[2]; ++t) {
      if (keys.first <= t && t < keys.last) continue;
      scored.scores.push_back(Real(*masked));
      scored.keys.push_back(t);
    }
    if (Is(kCapAfterMax) && op_.soft_cap) {
      const Real largest = scored.scores[ArgMaxScore<Real>(scored.scores)];
      const SoftCapFunction<Real> capped(*op_.soft_cap);
      for (Real& score : scored.scores) score = capped(score - largest) + largest;
    }
    return scored;
  }

  Real SinkOf(const QueryIndex& at) const override {
    if (Is(kSinkOfFirstHead)) return (*in_.sink)(0);
    if (Is(kSinkOfKeyHead)) return (*in_.sink)(Formula::KeyHeadOf(at.h));
    const Real sink = Formula::SinkOf(at);
    if (Is(kSinkScaled)) return ScoreScale<Real>(op_.scale, in_.q.shape[3])(sink);
    return Is(kSinkSubtracted) ? -sink : sink;
  }

  void Average(const QueryIndex& at, const ScoredKeys& scored, std::span<Real> y,
               Real& lse) const override {
    ScoredKeys padded = scored;
    if (Is(kPaddedLanes)) padded.scores.resize((scored.keys.size() + 7) / 8 * 8, Real(0.0));
    Formula::Average(at, padded, y, lse);
    lse = LseOf(at, scored.scores);
    if (Is(kSumInF16)) return AverageInF16(at, scored, y);
    const std::vector<Real> weights = WeightsOf(at, scored, lse);
    for (size_t e = 0; !weights.empty() && e < y.size(); ++e) {
      std::vector<Real> values;
      for (const size_t t : scored.keys) values.push_back(this->ValueAt(at, t)[e]);
      y[e] = Dot<Real>(weights, values);
    }
  }

  // As flash attention adds: the sums have the factor e^-m of the largest score m so far, and are
  // rescaled where it grows. The sum of the weights is not in f16.
  void AverageInF16(const QueryIndex& at, const ScoredKeys& scored, std::span<Real> y) const {
    std::vector<Real> scores = scored.scores;
    if (in_.sink) scores.push_back(SinkOf(at));
    Real total(0.0);
    std::ranges::fill(y, Real(0.0));
    size_t largest = 0;
    for (size_t j = 0; j < scores.size(); ++j) {
      Real rescaled(1.0), weight(1.0);
      const bool grows = ArgMaxScore<Real>(std::span(scores).first(j + 1)) == j && j > 0;
      {
        const ScopedStep in(Step::kSoftmax);
        if (grows) rescaled = Exp(scores[largest] - scores[j]);
        if (grows) largest = j;
        if (!grows && j > 0) weight = Exp(scores[j] - scores[largest]);
        total = total * rescaled + weight;
      }
      const ScopedStep in(Step::kDot);
      for (size_t e = 0; e < y.size(); ++e) {
        if (grows) y[e] = ConvertedTo(DType::kF16, y[e] * rescaled);
        if (j == scored.keys.size()) continue;  // the sink
        y[e] = ConvertedTo(DType::kF16, y[e] + weight * this->ValueAt(at, scored.keys[j])[e]);
      }
    }
    const ScopedStep in(Step::kWeigh);
    for (Real& mean : y) mean = mean / total;
  }

  Real LseOf(const QueryIndex& at, std::vector<Real> scores) const {
    if (in_.sink && Is(kLseOfSink)) scores.push_back(SinkOf(at));
    const Real lse = SoftmaxRow<Real>(scores, Tiling::kAny).LogSumExp();
    const ScopedStep in(Step::kSoftmax);
    if (Is(kLseBase2)) return lse / Log(Real(2.0));
    return Is(kLseLessLargest) ? lse - scores[ArgMaxScore<Real>(scores)] : lse;
  }

  // The weights of the values where the mutation changes them; otherwise empty.
  std::vector<Real> WeightsOf(const QueryIndex& at, const ScoredKeys& scored, Real& lse) const {
    if (Is(kNoSoftmax)) return scored.scores;
    if (Is(kOverQueries)) return OverQueries(at, scored.keys);
    if (Is(kNoRescale) || Is(kSumNotRescaled)) return NotRescaled(at, scored.scores, lse);
    if (Is(kSinkTwice) && in_.sink) return SinkTwice(at, scored.scores);
    if (Is(kBiasAfterSoftmax) && in_.bias) return BiasedWeights(at, scored);
    return {};
  }

  std::vector<Real> SinkTwice(const QueryIndex& at, std::vector<Real> scores) const {
    scores.push_back(SinkOf(at));
    std::vector<Real> weights = SoftmaxRow<Real>(scores).weights();
    const Real rest = Real(1.0) - weights.back();
    weights.pop_back();
    const ScopedStep in(Step::kWeigh);
    for (Real& weight : weights) weight = Converted(weight * rest);
    return weights;
  }

  std::vector<Real> BiasedWeights(const QueryIndex& at, const ScoredKeys& scored) const {
    std::vector<Real> scores = scored.scores;
    if (in_.sink) scores.push_back(SinkOf(at));
    std::vector<Real> weights = SoftmaxRow<Real>(scores).weights();
    weights.resize(scored.keys.size());
    const ScopedStep in(Step::kWeigh);
    for (size_t j = 0; j < weights.size(); ++j)
      weights[j] = Converted(weights[j] + BiasAt(at, scored.keys[j]));
    return weights;
  }

  // The weights of a softmax over all queries, and the sink.
  std::vector<Real> OverQueries(const QueryIndex& at, const std::vector<size_t>& keys) const {
    const std::pair head(at.b, at.h);
    if (head_over_queries_ != head) {
      head_over_queries_ = head;
      columns_over_queries_.clear();
      for (size_t t = 0; t < in_.k.shape[2]; ++t)
        columns_over_queries_.push_back(ColumnOverQueries(at, t));
    }
    std::vector<Real> weights;
    for (const size_t t : keys) weights.push_back(columns_over_queries_[t][at.s]);
    return weights;
  }

  // The weights of key t for every query of the head.
  std::vector<Real> ColumnOverQueries(QueryIndex at, size_t t) const {
    std::vector<Real> column;
    for (at.s = 0; at.s < in_.q.shape[2]; ++at.s) {
      const auto key = RowAt(in_.k, this->KeyRow(at) + t);
      column.push_back(ScoreAt(at, t, Dot(RowAt(in_.q, this->QueryRow(at)), key)));
    }
    if (in_.sink) column.push_back(SinkOf(at));
    return SoftmaxRow<Real>(column).weights();
  }

  // The weights of an online softmax over tiles of two keys that does not rescale earlier tiles by
  // e^(m - m'). lse uses the same sum. The sink is added last.
  std::vector<Real> NotRescaled(const QueryIndex& query, const std::vector<Real>& scores,
                                Real& lse) const {
    const ScopedStep at(Step::kSoftmax);
    const size_t n = scores.size(), last = ArgMaxScore<Real>(scores);
    std::vector<Real> weights, summed;
    for (size_t j = 0; j < n; ++j) {
      const size_t largest = ArgMaxScore<Real>(std::span(scores).first(std::min(n, j / 2 * 2 + 2)));
      summed.push_back(Exp(scores[j] - scores[largest]));
      weights.push_back(Is(kSumNotRescaled) ? Exp(scores[j] - scores[last]) : summed.back());
    }
    lse = scores[last] + Log(SumOf(summed));
    if (in_.sink) summed.push_back(Exp(SinkOf(query) - scores[last]));
    const Real sum = SumOf(summed);
    for (Real& weight : weights) weight = weight / sum;
    return weights;
  }

  AttentionMutation mutation_;
  // kOverQueries: batch and head, and for each of its keys the weights of every query.
  mutable std::optional<std::pair<size_t, size_t>> head_over_queries_;
  mutable std::vector<std::vector<Real>> columns_over_queries_;
};

}  // namespace

template <class Real>
void AttendMutated(AttentionMutation mutation, const AttentionAttributes& op,
                   const AttentionTensors<Real>& in, Tensor<Real>& y, Tensor<Real>& lse) {
  MutatedRows<Real>(mutation, op, in).Answer(y, lse);
}

template void AttendMutated(AttentionMutation, const AttentionAttributes&,
                            const AttentionTensors<Counted>&, Tensor<Counted>&, Tensor<Counted>&);
template void AttendMutated(AttentionMutation, const AttentionAttributes&,
                            const AttentionTensors<Rounded>&, Tensor<Rounded>&, Tensor<Rounded>&);

}  // namespace sextant::oracle
