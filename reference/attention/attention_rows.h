// The formula shared by all forms of attention: the scores of one query, and the weighted mean.
#pragma once

#include <cmath>
#include <vector>

#include "reference/attention/attention_attributes.h"
#include "reference/attention/empty_log_sum_exp.h"
#include "reference/attention/soft_cap.h"
#include "reference/attention/softmax_row.h"
#include "reference/number/tensor.h"
#include "reference/prove/slices.h"

namespace sextant {

// Row i of the last axis of a tensor.
template <class Real>
std::span<const Real> RowAt(const Tensor<Real>& tensor, size_t i) {
  const size_t width = tensor.shape.back();
  return std::span(tensor.data).subspan(i * width, width);
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
  bool scale_bias = false;  // the bias is added before the sum is scaled
};

// Computes a score from the dot product of query and key, in this order: scale, cap, bias. With
// scale_bias: bias, scale, cap.
template <class Real>
class ScoreOf {
 public:
  ScoreOf(const AttentionAttributes& op, size_t D, bool scale_bias = false)
      : scale_(op.scale, D), scale_bias_(scale_bias) {
    if (op.soft_cap) capped_.emplace(*op.soft_cap);
  }
  Real operator()(const Real& product, const Real* bias = nullptr) const {
    Real score = Stored(product);
    if (bias && scale_bias_) score = Plus(score, *bias);
    score = Stored(scale_(score));
    if (capped_) score = Stored((*capped_)(score));
    return bias && !scale_bias_ ? Plus(score, *bias) : score;
  }

 private:
  static Real Stored(const Real& score) {
    const ScopedStep at(Step::kScore);
    return Converted(score);
  }
  static Real Plus(const Real& score, const Real& bias) {
    Real sum;
    {
      const ScopedStep at(Step::kBias);
      sum = score + bias;
    }
    return Stored(sum);
  }

  ScoreScale<Real> scale_;
  std::optional<SoftCapping<Real>> capped_;
  bool scale_bias_;
};

// Indices of a query: batch, head, query.
struct QueryAt {
  size_t b, h, s;
};

// The keys of one head, prepared once for the dot products with many queries.
template <class Real>
class KeyRows {
 public:
  explicit KeyRows(const Tensor<Real>& k) : k_(k) {}
  // The keys of the head whose first row is `first`.
  std::span<const DotOperand<Real>> At(size_t first) {
    if (!keys_.empty() && first == first_) return keys_;
    first_ = first;
    keys_.clear();
    for (size_t t = 0; t < k_.shape[2]; ++t) keys_.emplace_back(RowAt(k_, first + t));
    return keys_;
  }

 private:
  const Tensor<Real>& k_;
  size_t first_ = 0;
  std::vector<DotOperand<Real>> keys_;
};

// The scores of one query with the keys in `keys`.
template <class Real>
std::vector<Real> ScoresOf(const AttentionTensors<Real>& in, const ScoreOf<Real>& score_of,
                           size_t query, std::span<const DotOperand<Real>> rows,
                           const KeyRange& keys) {
  const DotOperand<Real> q(RowAt(in.q, query));
  std::vector<Real> scores;
  scores.reserve(keys.size());
  for (size_t t = keys.first; t < keys.last; ++t) {
    const Real* bias = in.bias ? &RowAt(*in.bias, query)[t] : nullptr;
    scores.push_back(score_of(Dot(q, rows[t]), bias));
  }
  return scores;
}

// Computes y[B,H,S,E] and lse[B,H,S] of a case or a slice. For a query without visible keys, they
// are left unchanged (unspecified), or set to 0 and -infinity if empty_rows=zero.
template <class Real>
void Attend(const AttentionAttributes& op, const AttentionTensors<Real>& in, Tensor<Real>& y,
            Tensor<Real>& lse);

}  // namespace sextant
