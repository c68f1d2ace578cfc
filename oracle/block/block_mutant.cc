#include "oracle/block/block_mutant.h"

#include "oracle/attention/attention_mutant.h"
#include "oracle/rope/rotary_mutants.h"
#include "reference/rope/rope_rotated.h"

namespace sextant::oracle {
namespace {

template <class Real>
class MutantBlock {
 public:
  MutantBlock(BlockMutation mutation, const DecoderBlockAttributes& a, const BlockWeights<Real>& w)
      : mutation_(mutation), a_(a), w_(w) {}

  void Run(const Tensor<Real>& x, const Tensor<double>& position,
           const BlockTensors<Real>& out) const {
    const bool branch = a_.placement == Placement::kBranch;
    const bool sandwich = a_.placement == Placement::kSandwich;
    const bool parallel = a_.placement == Placement::kParallel;
    const bool plain =
        branch || Is(BlockMutation::kNoAttentionNorm) || Is(BlockMutation::kNormOfSum);
    out.normed = plain ? x : Normed(a_.Norm(), x, w_.attn_norm);
    Tensor<Real> attended = Attended(out.normed, position, out);
    out.attention_out = attended;
    if (branch && !Is(BlockMutation::kNoAttentionNorm))
      attended = Normed(a_.Norm(), attended, w_.attn_norm);
    const bool late = Is(BlockMutation::kPostNormOfSum);
    if (sandwich && !late) attended = Normed(a_.Norm(), attended, *w_.attn_post_norm);
    out.middle = Is(BlockMutation::kNoAttentionResidual) ? attended
                 : Is(BlockMutation::kResidualOfNormed)  ? StoredSum(out.normed, attended)
                                                         : StoredSum(x, attended);
    if (Is(BlockMutation::kNormOfSum)) out.middle = Normed(a_.Norm(), out.middle, w_.attn_norm);
    if (sandwich && late) out.middle = Normed(a_.Norm(), out.middle, *w_.attn_post_norm);

    const Tensor<Real>& before = parallel ? x : out.middle;
    const bool bare = branch || Is(BlockMutation::kNoFeedForwardNorm);
    const Tensor<Real> read = bare ? before : Normed(a_.Norm(), before, w_.mlp_norm);
    Tensor<Real> fed = FeedForwardBranch(a_, read, w_, out.hidden);
    if (branch && !Is(BlockMutation::kNoFeedForwardNorm)) fed = Normed(a_.Norm(), fed, w_.mlp_norm);
    if (sandwich && !late) fed = Normed(a_.Norm(), fed, *w_.mlp_post_norm);
    out.y = Is(BlockMutation::kNoFeedForwardResidual) ? fed : StoredSum(out.middle, fed);
    if (sandwich && late) out.y = Normed(a_.Norm(), out.y, *w_.mlp_post_norm);
  }

 private:
  bool Is(BlockMutation which) const { return mutation_ == which; }

  AttentionMutation OfAttention() const {
    switch (mutation_) {
      case BlockMutation::kSelfMasked:
        return AttentionMutation::kSelfMasked;
      case BlockMutation::kNextLeaked:
        return AttentionMutation::kNextLeaked;
      case BlockMutation::kCapBeforeScale:
        return AttentionMutation::kCapBeforeScale;
      case BlockMutation::kCapAfterMask:
        return AttentionMutation::kCapAfterMask;
      case BlockMutation::kCapNotScaledBack:
        return AttentionMutation::kCapNotScaledBack;
      case BlockMutation::kMeanOfEmpty:
        return AttentionMutation::kMeanOfEmpty;
      default:
        return AttentionMutation::kNone;
    }
  }

  // [S,H*D] as [1,H,S,D].
  Tensor<Real> Heads(const Tensor<Real>& x, size_t heads) const {
    Tensor<Real> y = HeadsOf(x, heads);
    if (!Is(BlockMutation::kHeadsInterleaved)) return y;
    const size_t S = y.shape[2], D = y.shape[3];
    for (size_t h = 0; h < heads; ++h) {
      for (size_t s = 0; s < S; ++s) {
        for (size_t d = 0; d < D; ++d) y(0, h, s, d) = x(s, d * heads + h);
      }
    }
    return y;
  }

  // Rotates each head by its own row of positions, as a batch of heads.
  Tensor<Real> RotatedHeads(Tensor<Real> x, const Tensor<double>& position,
                            double later = 0) const {
    const Shape shape = x.shape;
    const size_t heads = shape[1], S = shape[2];
    Tensor<double> at({heads, S});
    for (size_t h = 0; h < heads; ++h) {
      for (size_t s = 0; s < S; ++s)
        at(h, s) = position.data[Is(BlockMutation::kRotatedByHead) ? h % S : s] + later;
    }
    x.shape = {heads, 1, S, shape[3]};
    x = Rotated(a_, x, at);
    x.shape = shape;
    return x;
  }

  // [S,H*D] rotated as one head.
  Tensor<Real> RotatedWhole(const Tensor<Real>& x, const Tensor<double>& position,
                            size_t heads) const {
    const size_t S = x.shape[0], width = x.shape[1];
    RopeRotate rotation = a_.Rotation();
    rotation.D.value *= static_cast<int64_t>(heads);
    rotation.R.value *= static_cast<int64_t>(heads);
    const Head whole{a_.pairing, 0, static_cast<size_t>(a_.R.value),
                     static_cast<size_t>(rotation.R.value)};
    const RotaryMutation over_all{.exponent = [](int64_t k, int64_t, int64_t all) -> Exponent {
      return {2 * k, all};
    }};
    Tensor<Real> amplitude, unused({whole.R / 2});
    a_.Frequencies()(unused, amplitude);
    const auto tables = MutantTables(
        over_all, {{1, S}, position.data},
        MutantFrequencies<Real>(over_all, a_.Frequencies(), whole.D / 2, whole), amplitude());
    Tensor<Real> rotated({1, 1, S, width});
    rotation(Tensor<Real>({1, 1, S, width}, x.data), tables.cos, tables.sin, rotated);
    rotated.shape = {S, width};
    return Stored(std::move(rotated));
  }

  // How queries or keys are made from x.
  struct Preparation {
    const Tensor<Real>& weight;
    const Tensor<Real>* norm;
    size_t heads;
    QkNorm how;
    bool rotates;
    double later = 0;
  };
  // The heads of a projection, normalised and rotated in the order of the mutation.
  Tensor<Real> Prepared(const Tensor<Real>& x, const Tensor<double>& position,
                        const Preparation& p) const {
    Tensor<Real> flat = Projected(x, p.weight);
    const bool after = Is(BlockMutation::kQkNormAfterRotation);
    if (!after) flat = QkNormed(a_.Norm(), p.how, flat, p.norm, p.heads);
    if (Is(BlockMutation::kRotatedBeforeSplit) && p.heads > 0)
      return Heads(RotatedWhole(flat, position, p.heads), p.heads);
    Tensor<Real> y = Heads(flat, p.heads);
    if (p.rotates) y = RotatedHeads(std::move(y), position, p.later);
    if (!after) return y;
    return HeadsOf(QkNormed(a_.Norm(), p.how, HeadsTogether(y), p.norm, p.heads), p.heads);
  }

  Tensor<Real> Attended(const Tensor<Real>& x, const Tensor<double>& position,
                        const BlockTensors<Real>& out) const {
    const auto H = static_cast<size_t>(a_.H.value), K = static_cast<size_t>(a_.K.value);
    const size_t S = x.shape[0];
    const Tensor<Real> q = Prepared(x, position,
                                    {.weight = w_.wq,
                                     .norm = w_.q_norm,
                                     .heads = H,
                                     .how = w_.qk_norm,
                                     .rotates = !Is(BlockMutation::kQueriesNotRotated),
                                     .later = Is(BlockMutation::kQueriesOneOn) ? 1.0 : 0.0});
    Tensor<Real> k =
        Prepared(x, position,
                 {.weight = w_.wk,
                  .norm = w_.k_norm,
                  .heads = K,
                  .how = Is(BlockMutation::kKeysNotNormed) ? QkNorm::kNone : w_.qk_norm,
                  .rotates = !Is(BlockMutation::kKeysNotRotated)});
    Tensor<Real> v = Heads(Projected(x, w_.wv), K);
    if (Is(BlockMutation::kValuesRotated)) v = RotatedHeads(std::move(v), position);
    out.q_rotated.data = q.data;
    out.k_rotated.data = k.data;
    Attention attention = a_.Attending();
    if (Is(BlockMutation::kMaskFromTheEnd)) attention.align = Align::kBottomRight;
    if (Is(BlockMutation::kKeyHeadsTiled)) {
      attention.K = attention.H;
      k = Tiled(k, H);
      v = Tiled(v, H);
    }
    Tensor<Real> mean(q.shape), lse({1, H, S});
    if (const AttentionMutation how = OfAttention(); how == AttentionMutation::kNone) {
      attention(q, k, v, mean, lse);
    } else {
      AttendMutant<Real>(how, attention, {.q = q, .k = k, .v = v}, mean, lse);
    }
    return Projected(Together(Stored(std::move(mean))), w_.wo);
  }

  // [1,H,S,D] as [S,H*D].
  Tensor<Real> Together(const Tensor<Real>& mean) const {
    Tensor<Real> together = HeadsTogether(mean);
    if (Is(BlockMutation::kHeadsNotTransposed)) together.data = mean.data;
    if (Is(BlockMutation::kHeadsInterleaved)) {
      const size_t H = mean.shape[1], S = mean.shape[2], D = mean.shape[3];
      for (size_t h = 0; h < H; ++h) {
        for (size_t s = 0; s < S; ++s) {
          for (size_t d = 0; d < D; ++d) together(s, d * H + h) = mean(0, h, s, d);
        }
      }
    }
    return together;
  }

  Tensor<Real> Tiled(const Tensor<Real>& x, size_t heads) const {
    const size_t K = x.shape[1], S = x.shape[2], D = x.shape[3];
    Tensor<Real> y({1, heads, S, D});
    for (size_t i = 0; i < y.data.size(); ++i) {
      const size_t h = i / (S * D);
      y.data[i] = x.data[h % K * S * D + i % (S * D)];
    }
    return y;
  }

  BlockMutation mutation_;
  const DecoderBlockAttributes& a_;
  const BlockWeights<Real>& w_;
};

}  // namespace

template <class Real>
void RunMutant(BlockMutation mutation, const DecoderBlockAttributes& a, const Tensor<Real>& x,
               const Tensor<double>& position, const BlockWeights<Real>& w,
               const BlockTensors<Real>& out) {
  MutantBlock<Real>(mutation, a, w).Run(x, position, out);
}

template void RunMutant(BlockMutation, const DecoderBlockAttributes&, const Tensor<Counted>&,
                        const Tensor<double>&, const BlockWeights<Counted>&,
                        const BlockTensors<Counted>&);
template void RunMutant(BlockMutation, const DecoderBlockAttributes&, const Tensor<Rounded>&,
                        const Tensor<double>&, const BlockWeights<Rounded>&,
                        const BlockTensors<Rounded>&);

}  // namespace sextant::oracle
