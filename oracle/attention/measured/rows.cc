#include "oracle/attention/measured/rows.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "oracle/attention/arg_max_score.h"
#include "oracle/diagnosis/number_in.h"
#include "reference/layer/activation.h"
#include "reference/number/clamp.h"

namespace sextant::oracle {
namespace {

template <class Real>
class MeasuredRows : public AttentionRows<Real> {
 public:
  MeasuredRows(const MeasuredParts& parts, const AttentionAttributes& op,
               const AttentionTensors<Real>& in)
      : Formula(op, in),
        parts_(parts),
        first_b_(SliceBegin("B")),
        first_h_(SliceBegin("H")),
        first_s_(SliceBegin("S")) {}

  // True if the measured keys are without this one.
  bool Hides(const QueryIndex& at, size_t t) const { return parts_.counts && CountOf(at, t) == 0; }

 private:
  using Formula = AttentionRows<Real>;
  using Formula::in_, Formula::op_;
  using typename Formula::ScoredKeys;

  double CountOf(const QueryIndex& at, size_t t) const {
    if (parts_.counts) return parts_.counts(first_b_ + at.b, first_h_ + at.h, first_s_ + at.s, t);
    const KeyRange keys = Formula::KeysOf(at);
    return keys.first <= t && t < keys.last;
  }
  KeyRange KeysOf(const QueryIndex& at) const override {
    if (parts_.masked_score) return {0, in_.k.shape[2]};
    const KeyRange visible = VisibleKeysOf(at);
    return HasHidden() && !visible.IsEmpty() ? KeyRange{0, in_.k.shape[2]} : visible;
  }
  KeyRange VisibleKeysOf(const QueryIndex& at) const {
    if (!parts_.counts) return Formula::KeysOf(at);
    size_t first = 0, last = in_.k.shape[2];
    while (first < last && CountOf(at, first) == 0) ++first;
    while (first < last && CountOf(at, last - 1) == 0) --last;
    return first < last ? KeyRange{first, last} : KeyRange{};
  }
  bool HasHidden() const {
    using More = MeasuredParts::MoreTerms;
    return parts_.more_terms == More::kHidden || parts_.more_terms == More::kZerosOfHidden ||
           parts_.more_terms == More::kLost;
  }
  // Gathered keys and values have a head for each query head.
  size_t KeyHeadOf(size_t h) const override { return parts_.inputs ? h : Formula::KeyHeadOf(h); }

  std::vector<Real> ScoresAt(const QueryIndex& at, size_t first,
                             std::vector<Real> products) const override {
    const bool is_right =
        parts_.score_factors.empty() && !parts_.cap_clips && !parts_.factors && !parts_.added;
    if (is_right) return Formula::ScoresAt(at, first, std::move(products));
    for (size_t i = 0; i < products.size(); ++i) products[i] = ScoreAt(at, first + i, products[i]);
    return products;
  }
  Real ScoreAt(const QueryIndex& at, size_t t, const Real& product) const {
    const ScoreFunction<Real>& function = this->score_function_;
    const Real* bias = in_.bias ? &RowAt(*in_.bias, this->QueryRow(at))[t] : nullptr;
    Real score = function.Start(product);
    for (const ScoreStep step : function.order()) {
      const bool clips = step == ScoreStep::kCap && parts_.cap_clips && op_.soft_cap;
      score = clips ? Clamp(score, Real(-*op_.soft_cap), Real(*op_.soft_cap))
                    : function.After(step, score, bias);
      if (step == ScoreStep::kScale && !parts_.score_factors.empty())
        score = score * Real(parts_.score_factors[first_h_ + at.h]);
      if (step == ScoreStep::kScale && parts_.factors)
        score = score * Real(parts_.factors(first_b_ + at.b, first_h_ + at.h, first_s_ + at.s, t));
    }
    if (!parts_.added) return score;
    return score + Real(parts_.added(first_b_ + at.b, first_h_ + at.h, first_s_ + at.s, t));
  }

  // The score of a key that counts so often; empty if it is not read.
  std::optional<Real> ScoreIf(const Real& score, double count) const {
    if (count == 1) return score;
    if (count > 0) return score + Real(std::log(count));
    if (!parts_.masked_score) return std::nullopt;
    const Real masked(*parts_.masked_score);
    return parts_.masked_adds ? score + masked : masked;
  }
  ScoredKeys Scored(const QueryIndex& at, const KeyRange& keys) override {
    ScoredKeys all = Formula::Scored(at, keys), seen;
    hidden_.clear();
    for (size_t j = 0; j < all.keys.size(); ++j) {
      const auto score = ScoreIf(all.scores[j], CountOf(at, all.keys[j]));
      if (!score && IsHiddenTerm(at, all.keys[j])) hidden_.push_back(all.scores[j]);
      if (!score) continue;
      seen.keys.push_back(all.keys[j]);
      seen.scores.push_back(*score);
    }
    right_scores_ = seen.scores;
    if (parts_.tile > 0) seen.scores = InTiles(seen, parts_.tile);
    if (parts_.weight_format) RoundWeights(seen);
    if (!parts_.largest_alone) return seen;
    const size_t largest = ArgMaxScore<Real>(seen.scores);
    return {{seen.keys[largest]}, {seen.scores[largest]}};
  }

  bool IsHiddenTerm(const QueryIndex& at, size_t t) const {
    if (parts_.more_terms != MeasuredParts::MoreTerms::kLost) return true;
    const KeyRange shown = Formula::KeysOf(at);
    return shown.first <= t && t < shown.last;
  }
  // The logarithms of rounded weights; keys whose weights are 0 are not seen.
  void RoundWeights(ScoredKeys& seen) const {
    const Real largest = seen.scores[ArgMaxScore<Real>(seen.scores)];
    ScoredKeys rounded;
    for (size_t j = 0; j < seen.keys.size(); ++j) {
      const double weight = parts_.weight_format->Nearest(NumberIn(Exp(seen.scores[j] - largest)));
      if (!(weight > 0)) continue;
      rounded.keys.push_back(seen.keys[j]);
      rounded.scores.push_back(Log(Real(weight)));
    }
    seen = rounded;
  }
  // The sum of the weights as they are, in units of the sum of the right ones.
  Real SumOfRightOnes(const ScoredKeys& scored) const {
    const Real largest = right_scores_[ArgMaxScore<Real>(right_scores_)];
    return SumOfExponentials(scored.scores, Real(0.0)) / SumOfExponentials(right_scores_, largest);
  }

  static std::vector<Real> InTiles(const ScoredKeys& all, size_t tile) {
    std::vector<Real> scores;
    for (size_t first = 0, last = 0, largest = 0; first < all.keys.size(); first = last) {
      while (last < all.keys.size() && all.keys[last] / tile == all.keys[first] / tile) ++last;
      largest = ArgMaxScoreUpTo<Real>(all.scores, first, last, largest);
      for (size_t j = first; j < last; ++j) scores.push_back(all.scores[j] - all.scores[largest]);
    }
    return scores;
  }

  Real SinkOf(const QueryIndex& at) const override {
    using Rule = MeasuredParts::SinkRule;
    const Real sink = parts_.sinks
                          ? Real(parts_.sinks(first_b_ + at.b, first_h_ + at.h, first_s_ + at.s))
                          : Formula::SinkOf(at);
    if (parts_.sink_rule == Rule::kFromLargest) return largest_ + sink;
    if (parts_.sink_rule == Rule::kFromLarger) return IsLess(largest_, sink) ? largest_ : sink;
    if (parts_.sink_rule == Rule::kBase2) return lse_ + (sink - lse_ / Real(std::numbers::ln2));
    return sink;
  }

  // Further terms of the sum are scores without a key.
  void Average(const QueryIndex& at, const ScoredKeys& scored, std::span<Real> y,
               Real& lse) const override {
    ScoredKeys all = scored;
    for (size_t& key : all.keys) key = (key + parts_.later) % in_.k.shape[2];
    const Real largest = all.scores[ArgMaxScore<Real>(all.scores)];
    largest_ = largest;
    if (parts_.sink_rule == MeasuredParts::SinkRule::kBase2)
      lse_ = largest + Log(SumOfExponentials(all.scores, largest));
    AddMoreTerms(scored, largest, all.scores);
    if (parts_.zeros > 0) all.scores.push_back(Real(std::log(parts_.zeros)));
    if (parts_.increase > 0) all.scores.push_back(largest + Real(std::log(parts_.increase)));
    Formula::Average(at, all, y, lse);
    for (Real& element : y)
      if (parts_.gain != 1) element = element * Real(parts_.gain);
    if (!parts_.has_right_sum) return;
    const Real sum = SumOfRightOnes(scored);
    for (Real& element : y) element = element * sum;
  }

  static Real SumOfExponentials(const std::vector<Real>& scores, const Real& largest) {
    std::vector<Real> terms;
    for (const Real& score : scores) terms.push_back(Exp(score - largest));
    return SumOf(terms);
  }
  void AddMoreTerms(const ScoredKeys& scored, const Real& largest,
                    std::vector<Real>& scores) const {
    using More = MeasuredParts::MoreTerms;
    if (parts_.more_terms == More::kHidden || parts_.more_terms == More::kLost)
      scores.insert(scores.end(), hidden_.begin(), hidden_.end());
    if (parts_.more_terms == More::kZerosOfHidden && !hidden_.empty())
      scores.push_back(Real(std::log(static_cast<double>(hidden_.size()))));
    if (parts_.more_terms != More::kTiles) return;
    const Real more = SumOfExponentials(InTiles(scored, parts_.sum_tile), Real(0.0)) -
                      SumOfExponentials(scored.scores, largest);
    if (NumberIn(more) > 0) scores.push_back(largest + Log(more));
  }

  const MeasuredParts& parts_;
  const size_t first_b_, first_h_, first_s_;
  std::vector<Real> hidden_, right_scores_;  // of the row that is computed
  mutable Real largest_{}, lse_{};
};

// The heads of a tensor [B,heads,rows,width] that the query heads of this slice read, each from row
// `first` on, so many.
struct HeadRows {
  const NamedTensor& from;
  size_t first, count;
};
template <class Real>
Tensor<Real> Gathered(const HeadRows& rows, const std::vector<size_t>& heads, size_t B) {
  const Shape& shape = rows.from.values.shape;
  const size_t width = shape[3];
  Tensor<Real> to;
  to.shape = {B, heads.size(), rows.count, width};
  to.data.clear();
  for (size_t i = 0; i < B * heads.size(); ++i) {
    const size_t b = SliceBegin("B") + i / heads.size(), head = heads[i % heads.size()];
    const size_t begin = ((b * shape[1] + head) * shape[2] + rows.first) * width;
    for (size_t j = begin; j < begin + rows.count * width; ++j)
      to.data.emplace_back(rows.from.values.data[j], rows.from.dtype);
  }
  return to;
}

}  // namespace

template <class Real>
void GatherHeads(const MeasuredParts& parts, Tensor<Real>& q, Tensor<Real>& k, Tensor<Real>& v) {
  if (!parts.inputs) return;
  const size_t B = q.shape[0], H = q.shape[1], S = q.shape[2], T = k.shape[2];
  std::vector<size_t> query, key, value;
  for (size_t i = 0; i < H; ++i) {
    const size_t h = SliceBegin("H") + i;
    query.push_back(parts.query_heads.empty() ? h : parts.query_heads[h]);
    key.push_back(parts.key_heads[h]);
    value.push_back(parts.value_heads[h]);
  }
  const Tensors& inputs = *parts.inputs;
  q = Gathered<Real>({inputs[0], SliceBegin("S"), S}, query, B);
  k = Gathered<Real>({inputs[1], 0, T}, key, B);
  v = Gathered<Real>({inputs[2], 0, T}, value, B);
}

template <class Real>
void AttendGathered(const MeasuredParts& parts, const AttentionAttributes& op,
                    const AttentionTensors<Real>& in, Tensor<Real>& y, Tensor<Real>& lse) {
  MeasuredRows<Real>(parts, op, in).Answer(y, lse);
}

template <class Real>
void AttendMeasured(const MeasuredParts& parts, const AttentionAttributes& op,
                    const AttentionTensors<Real>& in, Tensor<Real>& y, Tensor<Real>& lse) {
  if (!parts.inputs) return AttendGathered<Real>(parts, op, in, y, lse);
  Tensor<Real> q = in.q, k = in.k, v = in.v;
  GatherHeads(parts, q, k, v);
  const AttentionTensors<Real> gathered{
      .q = q, .k = k, .v = v, .bias = in.bias, .sink = in.sink, .add_bias = in.add_bias};
  AttendGathered<Real>(parts, op, gathered, y, lse);
}

template <class Real>
void ScoreMeasured(const MeasuredParts& parts, const AttentionAttributes& op, const Tensor<Real>& q,
                   const Tensor<Real>& k, Tensor<Real>& scores) {
  Tensor<Real> own = q, keys = k, values = k;
  GatherHeads(parts, own, keys, values);
  const size_t H = q.shape[1], S = q.shape[2], T = k.shape[2];
  MeasuredRows<Real> rows(parts, op, {.q = own, .k = keys, .v = values});
  for (size_t i = 0; T > 0 && i < q.shape[0] * H * S; ++i) {
    const QueryIndex at{i / (H * S), i / S % H, i % S};
    std::vector<Real> row = rows.ScoresOf(at, {0, T});
    for (size_t t = 0; t < T; ++t)
      if (rows.Hides(at, t)) row[t] = EmptyLogSumExp<Real>();
    std::ranges::copy(row, scores.data.begin() + static_cast<ptrdiff_t>(i * T));
  }
}

template void ScoreMeasured(const MeasuredParts&, const AttentionAttributes&,
                            const Tensor<Counted>&, const Tensor<Counted>&, Tensor<Counted>&);
template void ScoreMeasured(const MeasuredParts&, const AttentionAttributes&,
                            const Tensor<Rounded>&, const Tensor<Rounded>&, Tensor<Rounded>&);
template void GatherHeads(const MeasuredParts&, Tensor<Counted>&, Tensor<Counted>&,
                          Tensor<Counted>&);
template void AttendGathered(const MeasuredParts&, const AttentionAttributes&,
                             const AttentionTensors<Counted>&, Tensor<Counted>&, Tensor<Counted>&);
template void AttendMeasured(const MeasuredParts&, const AttentionAttributes&,
                             const AttentionTensors<Counted>&, Tensor<Counted>&, Tensor<Counted>&);
template void GatherHeads(const MeasuredParts&, Tensor<Rounded>&, Tensor<Rounded>&,
                          Tensor<Rounded>&);
template void AttendGathered(const MeasuredParts&, const AttentionAttributes&,
                             const AttentionTensors<Rounded>&, Tensor<Rounded>&, Tensor<Rounded>&);
template void AttendMeasured(const MeasuredParts&, const AttentionAttributes&,
                             const AttentionTensors<Rounded>&, Tensor<Rounded>&, Tensor<Rounded>&);

}  // namespace sextant::oracle
