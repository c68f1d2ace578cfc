// The formula of a decoder block, for every number type: its operations and their intermediates.
// Shared by decoder_block and decoder. Virtual functions are the places where a mutation may differ
// (oracle/block/block_mutation.h).
#pragma once

#include "reference/block/block_tensors.h"
#include "reference/block/decoder_block_attributes.h"
#include "reference/layer/feed_forward.h"
#include "reference/number/matrix_product.h"
#include "reference/prove/block_parts.h"
#include "reference/rope/rope_rotated.h"

namespace sextant {

// a + b + c, added in any order.
template <class Real>
Tensor<Real> StoredSum(const Tensor<Real>& a, const Tensor<Real>& b, const Tensor<Real>& c) {
  const ScopedStep at(Step::kKeep);
  Tensor<Real> sum = a;
  for (size_t i = 0; i < sum.data.size(); ++i)
    sum.data[i] = SumOf(std::vector<Real>{a.data[i], b.data[i], c.data[i]});
  return sum;
}

template <class Real>
Tensor<Real> Projected(const Tensor<Real>& x, const Weights<Real>& weight) {
  Tensor<Real> y({x.shape[0], weight.shape[0]});
  MultiplyByWeights(x, weight, y);
  return Stored(std::move(y));
}

template <class Real>
Tensor<Real> Normed(const RmsNorm& norm, const Tensor<Real>& x, const Tensor<Real>& weight) {
  Tensor<Real> y(x.shape);
  norm(x, weight, y);
  return Stored(std::move(y));
}

// Normalises queries [S,H*D] or keys [S,K*D] as `how` states. Unset: x, and no weight is read.
template <class Real>
Tensor<Real> QkNormed(const RmsNorm& norm, std::optional<QkNorm> how, const Tensor<Real>& x,
                      const std::optional<Tensor<Real>>& weight, size_t heads) {
  if (!how) return x;
  if (how == QkNorm::kFull) return Normed(norm, x, *weight);
  Tensor<Real> y(x.shape);
  const size_t S = x.shape[0], D = heads == 0 ? 0 : x.shape[1] / heads;
  for (size_t h = 0; h < heads; ++h) {
    Tensor<Real> head({S, D}), head_weight({D});
    for (size_t d = 0; d < D; ++d) head_weight(d) = (*weight)(h * D + d);
    for (size_t s = 0; s < S; ++s) {
      for (size_t d = 0; d < D; ++d) head(s, d) = x(s, h * D + d);
    }
    head = Normed(norm, head, head_weight);
    for (size_t s = 0; s < S; ++s) {
      for (size_t d = 0; d < D; ++d) y(s, h * D + d) = head(s, d);
    }
  }
  return y;
}

template <class Real>
class DecoderBlockFormula {
 public:
  // The arguments must outlive the formula.
  DecoderBlockFormula(const DecoderBlockAttributes& attributes, const Tensor<double>& position,
                      const BlockWeights<Real>& weights, const BlockOutputs<Real>& out);
  virtual ~DecoderBlockFormula() = default;
  void Run(const Tensor<Real>& x) const;

 protected:
  enum class Branch { kAttention, kFeedForward };
  // Queries or keys: their projection.
  struct Projection {
    const Weights<Real>& weight;
    const std::optional<Tensor<Real>>& norm;
    size_t heads;
    std::optional<QkNorm> qk_norm;
    bool of_keys;
  };
  // What a branch reads, and what it adds.
  virtual Tensor<Real> BranchInput(Branch branch, const Tensor<Real>& x) const;
  virtual Tensor<Real> BranchOutput(Branch branch, const Tensor<Real>& y) const;
  virtual Tensor<Real> AfterAttention(const Tensor<Real>& x, const Tensor<Real>& attended) const;
  virtual Tensor<Real> AfterFeedForward(const Tensor<Real>& x, const Tensor<Real>& attended,
                                        const Tensor<Real>& middle, const Tensor<Real>& fed) const;

  // [S,heads*D] to [1,heads,S,D], and the inverse.
  virtual Tensor<Real> Split(const Tensor<Real>& x, size_t heads) const;
  virtual Tensor<Real> Merged(const Tensor<Real>& x) const;
  virtual Tensor<Real> QueriesOrKeys(const Projection& projection, const Tensor<Real>& x) const;
  virtual Tensor<Real> Values(const Tensor<Real>& x) const;
  virtual Tensor<Real> RotatedHeads(const Projection& projection, const Tensor<Real>& x) const;
  virtual void Attend(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                      Tensor<Real>& mean, Tensor<Real>& lse) const;

  const DecoderBlockAttributes& a_;
  const Tensor<double>& position_;
  const BlockWeights<Real>& w_;
  const BlockOutputs<Real>& out_;

 private:
  Tensor<Real> AttentionBranch(const Tensor<Real>& x) const;  // attention_out [S,M]

  PairRotation<Real> rotate_;
};

}  // namespace sextant
