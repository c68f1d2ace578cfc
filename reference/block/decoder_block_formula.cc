#include "reference/block/decoder_block_formula.h"

#include <algorithm>

#include "reference/number/real.h"
#include "reference/number/recipe/in_parallel_here.h"

namespace sextant {
namespace {

// Heads first .. first + count - 1 of x [1,heads,S,D].
template <class Real>
Tensor<Real> HeadsOf(const Tensor<Real>& x, size_t first, size_t count) {
  const size_t size = x.shape[2] * x.shape[3];
  const auto from = x.data.begin() + static_cast<ptrdiff_t>(first * size);
  return {{1, count, x.shape[2], x.shape[3]},
          std::vector<Real>(from, from + static_cast<ptrdiff_t>(count * size))};
}

// Copies a part [1,count,..] of a tensor [1,heads,..] to head `first` on.
template <class Real>
void CopyHeads(const Tensor<Real>& part, size_t first, Tensor<Real>& whole) {
  const size_t size = part.shape[1] == 0 ? 0 : part.data.size() / part.shape[1];
  std::ranges::copy(part.data, whole.data.begin() + static_cast<ptrdiff_t>(first * size));
}

}  // namespace

template <class Real>
DecoderBlockFormula<Real>::DecoderBlockFormula(const DecoderBlockAttributes& attributes,
                                               const Tensor<double>& position,
                                               const BlockWeights<Real>& weights,
                                               const BlockOutputs<Real>& out)
    : a_(attributes),
      position_(position),
      w_(weights),
      out_(out),
      rotate_(attributes, {{1, position.data.size()}, position.data}) {}

template <class Real>
void DecoderBlockFormula<Real>::Run(const Tensor<Real>& x) const {
  *out_.normed = BranchInput(Branch::kAttention, x);
  const Tensor<Real> attended =
      BranchOutput(Branch::kAttention, AttentionBranch(Intermediate(*out_.normed)));
  *out_.middle = AfterAttention(x, attended);
  const Tensor<Real> middle = Intermediate(*out_.middle);

  const bool parallel = a_.placement == Placement::kParallel;
  const Tensor<Real> in = BranchInput(Branch::kFeedForward, parallel ? x : middle);
  Tensor<Real> fed(x.shape);
  FeedForward{.kind = a_.kind}.operator()<Real>(in, w_.gate, w_.up, w_.down, nullptr, nullptr,
                                                nullptr, fed, *out_.hidden);
  fed = BranchOutput(Branch::kFeedForward, Stored(std::move(fed)));
  *out_.y = AfterFeedForward(x, attended, middle, fed);
}

template <class Real>
Tensor<Real> DecoderBlockFormula<Real>::BranchInput(Branch branch, const Tensor<Real>& x) const {
  if (a_.placement == Placement::kBranch) return x;
  return Normed(a_.Norm(), x, branch == Branch::kAttention ? w_.attn_norm : w_.mlp_norm);
}

template <class Real>
Tensor<Real> DecoderBlockFormula<Real>::BranchOutput(Branch branch, const Tensor<Real>& y) const {
  const bool attention = branch == Branch::kAttention;
  if (a_.placement == Placement::kBranch)
    return Normed(a_.Norm(), y, attention ? w_.attn_norm : w_.mlp_norm);
  if (a_.placement == Placement::kSandwich)
    return Normed(a_.Norm(), y, attention ? *w_.attn_post_norm : *w_.mlp_post_norm);
  return y;
}

template <class Real>
Tensor<Real> DecoderBlockFormula<Real>::AfterAttention(const Tensor<Real>& x,
                                                       const Tensor<Real>& attended) const {
  return StoredSum(x, attended);
}

template <class Real>
Tensor<Real> DecoderBlockFormula<Real>::AfterFeedForward(const Tensor<Real>& x,
                                                         const Tensor<Real>& attended,
                                                         const Tensor<Real>& middle,
                                                         const Tensor<Real>& fed) const {
  const bool parallel = a_.placement == Placement::kParallel;
  return parallel ? StoredSum(x, attended, fed) : StoredSum(middle, fed);
}

template <class Real>
Tensor<Real> DecoderBlockFormula<Real>::Split(const Tensor<Real>& x, size_t heads) const {
  return SplitHeads(x, heads);
}

template <class Real>
Tensor<Real> DecoderBlockFormula<Real>::Merged(const Tensor<Real>& x) const {
  return MergeHeads(x);
}

template <class Real>
Tensor<Real> DecoderBlockFormula<Real>::QueriesOrKeys(const Projection& p,
                                                      const Tensor<Real>& x) const {
  const Tensor<Real> flat = Projected(x, p.weight);
  return RotatedHeads(p, Split(QkNormed(a_.Norm(), p.qk_norm, flat, p.norm, p.heads), p.heads));
}

template <class Real>
Tensor<Real> DecoderBlockFormula<Real>::Values(const Tensor<Real>& x) const {
  return Split(Projected(x, w_.wv), static_cast<size_t>(a_.K.value));
}

template <class Real>
Tensor<Real> DecoderBlockFormula<Real>::RotatedHeads(const Projection&,
                                                     const Tensor<Real>& x) const {
  return rotate_(x);
}

template <class Real>
void DecoderBlockFormula<Real>::Attend(const Tensor<Real>& q, const Tensor<Real>& k,
                                       const Tensor<Real>& v, Tensor<Real>& mean,
                                       Tensor<Real>& lse) const {
  const Attention all = a_.MakeAttention();
  const size_t K = k.shape[1], heads = K == 0 ? 0 : q.shape[1] / K, S = q.shape[2];
  InParallelHere(K, [&](size_t g) {
    Attention of_key_head = all;
    of_key_head.H.value = static_cast<int64_t>(heads);
    of_key_head.K.value = 1;
    Tensor<Real> y({1, heads, S, v.shape[3]}), log_sums({1, heads, S});
    of_key_head.Attend(HeadsOf(q, g * heads, heads), HeadsOf(k, g, 1), HeadsOf(v, g, 1), y,
                       log_sums);
    CopyHeads(y, g * heads, mean);
    CopyHeads(log_sums, g * heads, lse);
  });
}

template <class Real>
Tensor<Real> DecoderBlockFormula<Real>::AttentionBranch(const Tensor<Real>& x) const {
  const auto H = static_cast<size_t>(a_.H.value), K = static_cast<size_t>(a_.K.value);
  const Projection queries{w_.wq, w_.q_norm, H, a_.qk_norm, false};
  const Projection keys{w_.wk, w_.k_norm, K, a_.qk_norm, true};
  const Tensor<Real> q = IntermediateAs(QueriesOrKeys(queries, x), *out_.q_rotated);
  const Tensor<Real> k = IntermediateAs(QueriesOrKeys(keys, x), *out_.k_rotated);
  const Tensor<Real> v = Values(x);
  Tensor<Real> mean(q.shape), lse({1, H, x.shape[0]});
  Attend(q, k, v, mean, lse);
  *out_.attention_out = Projected(Merged(Stored(std::move(mean))), w_.wo);
  return Intermediate(*out_.attention_out);
}

template class DecoderBlockFormula<Interval>;
template class DecoderBlockFormula<Counted>;
template class DecoderBlockFormula<Rounded>;
template class DecoderBlockFormula<BoostReal>;

}  // namespace sextant
