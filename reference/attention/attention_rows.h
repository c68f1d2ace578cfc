// The formula shared by all forms of attention: the scores of one query, and the weighted mean.
// Virtual functions are what a mutation may change (oracle/attention/attention_mutation.h).
#pragma once

#include <cmath>
#include <concepts>
#include <optional>
#include <type_traits>
#include <vector>

#include "reference/attention/attention_attributes.h"
#include "reference/attention/empty_log_sum_exp.h"
#include "reference/attention/soft_cap.h"
#include "reference/attention/softmax_row.h"
#include "reference/number/dot/dot_rows.h"
#include "reference/number/lanes/each_number.h"
#include "reference/number/tensor/tensor.h"
#include "reference/prove/slices.h"

namespace sextant {

// Row i of the last axis of a tensor.
template <class Real>
std::span<const Real> RowAt(const Tensor<Real>& tensor, size_t i) {
  const size_t width = tensor.shape.back();
  return std::span(tensor.data).subspan(i * width, width);
}

// The weighted mean of column d of these rows of `tensor`.
template <class Real>
Real MeanOfRows(const SoftmaxRow<Real>& weights, const Tensor<Real>& tensor,
                std::span<const size_t> rows, size_t d) {
  std::vector<Real> column;
  for (const size_t row : rows) column.push_back(RowAt(tensor, row)[d]);
  return weights.Mean(column);
}

// Throws Error if scale is unset and D is 0, because D^-1/2 is undefined.
inline void CheckScale(const std::optional<double>& scale, size_t D) {
  if (!scale && D == 0)
    throw Error("dimension D is 0, expected 1 or more where scale= is unset (D^-1/2)");
}

// Tensors of a case or of a slice of it; bias[B,H,S,T] and sink[H] are null if absent.
template <class Real>
struct AttentionTensors {
  const Tensor<Real>&q, &k, &v;
  const Tensor<Real>* bias = nullptr;
  const Tensor<Real>* sink = nullptr;
  std::optional<AddBias> add_bias{};
};

// The steps from the dot product of query and key to their score.
enum class ScoreStep { kScale, kCap, kBias };

// `Real`: a number type, or CountedLanes for many scores.
template <class Real>
class ScoreFunction {
 public:
  ScoreFunction(const AttentionAttributes& op, size_t D, std::optional<AddBias> add_bias = {})
      : scale_(op.scale, D), order_{ScoreStep::kScale, ScoreStep::kCap, ScoreStep::kBias} {
    if (op.soft_cap) capped_.emplace(*op.soft_cap);
    if (add_bias == AddBias::kBeforeCap)
      order_ = {ScoreStep::kScale, ScoreStep::kBias, ScoreStep::kCap};
    if (add_bias == AddBias::kBeforeScale)
      order_ = {ScoreStep::kBias, ScoreStep::kScale, ScoreStep::kCap};
  }
  const std::vector<ScoreStep>& order() const { return order_; }
  Real operator()(const Real& product, const Real* bias = nullptr) const {
    Real score = Start(product);
    for (const ScoreStep step : order_) score = After(step, score, bias);
    return score;
  }
  static Real Start(const Real& product) { return Stored(product); }
  // Without bias or soft_cap, their steps change nothing.
  Real After(ScoreStep step, const Real& score, const Real* bias) const {
    if (step == ScoreStep::kScale) return Stored(scale_(score));
    if (step == ScoreStep::kCap) return capped_ ? Stored((*capped_)(score)) : score;
    return bias ? Stored(Plus(score, *bias)) : score;
  }

 private:
  static Real Stored(const Real& score) {
    const ScopedStep at(Step::kScore);
    return Converted(score);
  }
  static Real Plus(const Real& score, const Real& bias) {
    const ScopedStep at(Step::kBias);
    return score + bias;
  }

  ScoreScale<Single<Real>> scale_;
  std::optional<SoftCapFunction<Real>> capped_;
  std::vector<ScoreStep> order_;
};

// Indices of a query in the tensors: batch, head, query.
struct QueryIndex {
  size_t b, h, s;
};

template <class Real>
class AttentionRows {
 public:
  AttentionRows(const AttentionAttributes& op, const AttentionTensors<Real>& in);
  virtual ~AttentionRows() = default;
  // Computes y[B,H,S,E] and lse[B,H,S] of all queries.
  void Answer(Tensor<Real>& y, Tensor<Real>& lse);
  std::vector<Real> ScoresOf(const QueryIndex& at, const KeyRange& keys);

 protected:
  // The keys that a query reads, and their scores.
  struct ScoredKeys {
    std::vector<size_t> keys;
    std::vector<Real> scores;
  };
  virtual KeyRange KeysOf(const QueryIndex& at) const;
  virtual size_t KeyHeadOf(size_t h) const;  // both among the heads of the slice
  virtual size_t ValueHeadOf(size_t h) const { return KeyHeadOf(h); }
  // The scores of the keys from `first` on, whose products with the query are given.
  virtual std::vector<Real> ScoresAt(const QueryIndex& at, size_t first,
                                     std::vector<Real> products) const;
  virtual Real SinkOf(const QueryIndex& at) const { return (*in_.sink)(at.h); }
  virtual ScoredKeys Scored(const QueryIndex& at, const KeyRange& keys);
  // The result of a query without visible keys: unspecified, or 0 and -infinity if empty_rows=zero.
  // With a sink, which takes all the weight, y is 0.
  virtual void AnswerEmpty(const QueryIndex& at, std::span<Real> y, Real& lse) const;
  // The mean of the values. Scores beyond those of the keys (a sink) have values of 0.
  virtual void Average(const QueryIndex& at, const ScoredKeys& scored, std::span<Real> y,
                       Real& lse) const;

  size_t QueryRow(const QueryIndex& at) const {
    return (at.b * in_.q.shape[1] + at.h) * in_.q.shape[2] + at.s;
  }
  // The row of the first key of the query's head.
  size_t KeyRow(const QueryIndex& at) const {
    return (at.b * in_.k.shape[1] + KeyHeadOf(at.h)) * in_.k.shape[2];
  }
  // The row of the first value of the query's head.
  size_t ValueRow(const QueryIndex& at) const {
    return (at.b * in_.v.shape[1] + ValueHeadOf(at.h)) * in_.v.shape[2];
  }
  std::span<const Real> ValueAt(const QueryIndex& at, size_t t) const {
    return RowAt(in_.v, ValueRow(at) + t);
  }

  const AttentionAttributes& op_;
  const AttentionTensors<Real> in_;
  const ScoreFunction<Real> score_function_;

 private:
  using Many = std::conditional_t<std::same_as<Real, Counted>, CountedLanes, Real>;
  // The keys of one head, prepared once for the dot products with many queries.
  const DotRows<Real>& PreparedKeys(size_t first_row);
  const ValueRows<Real>& PreparedValues(size_t first_row) const;

  const ScoreFunction<Many> many_scores_;
  size_t first_b_, first_h_, first_k_, first_s_;  // of the slice
  size_t prepared_row_ = 0;
  std::optional<DotRows<Real>> prepared_;
  mutable size_t values_row_ = 0;
  mutable std::optional<ValueRows<Real>> values_;
};

}  // namespace sextant
