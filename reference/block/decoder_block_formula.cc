#include "reference/block/decoder_block_formula.h"

namespace sextant {
namespace {

// attention_out [S,M]: the rotated queries and keys of x [S,M], attention, the output projection.
template <class Real>
Tensor<Real> AttentionBranch(const DecoderBlockAttributes& a, const Tensor<Real>& x,
                             const Tensor<double>& position, const BlockWeights<Real>& w,
                             const BlockTensors<Real>& out) {
  const size_t S = x.shape[0];
  const auto H = static_cast<size_t>(a.H.value), K = static_cast<size_t>(a.K.value);
  const PairRotation<Real> rotate(a, {{1, S}, position.data});
  const auto rotated = [&](const Tensor<Real>& weight, const Tensor<Real>* norm, size_t heads,
                           Tensor<Real>& output) {
    const Tensor<Real> flat = QkNormed(a.Norm(), w.qk_norm, Projected(x, weight), norm, heads);
    return IntermediateAs(rotate(HeadsOf(flat, heads)), output);
  };
  const Tensor<Real> q = rotated(w.wq, w.q_norm, H, out.q_rotated);
  const Tensor<Real> k = rotated(w.wk, w.k_norm, K, out.k_rotated);
  const Tensor<Real> v = HeadsOf(Projected(x, w.wv), K);
  Tensor<Real> mean(q.shape), lse({1, H, S});
  a.Attending()(q, k, v, mean, lse);
  out.attention_out = Projected(HeadsTogether(Stored(std::move(mean))), w.wo);
  return Intermediate(out.attention_out);
}

}  // namespace

template <class Real>
void RunBlock(const DecoderBlockAttributes& a, const Tensor<Real>& x,
              const Tensor<double>& position, const BlockWeights<Real>& w,
              const BlockTensors<Real>& out) {
  const bool branch = a.placement == Placement::kBranch;
  const bool sandwich = a.placement == Placement::kSandwich;
  const bool parallel = a.placement == Placement::kParallel;
  out.normed = branch ? x : Normed(a.Norm(), x, w.attn_norm);
  Tensor<Real> attended = AttentionBranch(a, Intermediate(out.normed), position, w, out);
  if (branch) attended = Normed(a.Norm(), attended, w.attn_norm);
  if (sandwich) attended = Normed(a.Norm(), attended, *w.attn_post_norm);
  out.middle = StoredSum(x, attended);
  const Tensor<Real> middle = Intermediate(out.middle);

  const Tensor<Real>& before = parallel ? x : middle;
  const Tensor<Real> in = branch ? before : Normed(a.Norm(), before, w.mlp_norm);
  Tensor<Real> fed = FeedForwardBranch(a, in, w, out.hidden);
  if (branch) fed = Normed(a.Norm(), fed, w.mlp_norm);
  if (sandwich) fed = Normed(a.Norm(), fed, *w.mlp_post_norm);
  out.y = parallel ? StoredSum(x, attended, fed) : StoredSum(middle, fed);
}

template void RunBlock(const DecoderBlockAttributes&, const Tensor<Interval>&,
                       const Tensor<double>&, const BlockWeights<Interval>&,
                       const BlockTensors<Interval>&);
template void RunBlock(const DecoderBlockAttributes&, const Tensor<Counted>&, const Tensor<double>&,
                       const BlockWeights<Counted>&, const BlockTensors<Counted>&);
template void RunBlock(const DecoderBlockAttributes&, const Tensor<Rounded>&, const Tensor<double>&,
                       const BlockWeights<Rounded>&, const BlockTensors<Rounded>&);
template void RunBlock(const DecoderBlockAttributes&, const Tensor<BoostReal>&,
                       const Tensor<double>&, const BlockWeights<BoostReal>&,
                       const BlockTensors<BoostReal>&);

}  // namespace sextant
