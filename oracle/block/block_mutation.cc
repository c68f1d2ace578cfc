#include "oracle/block/block_mutation.h"

#include "oracle/attention/attention_mutation.h"
#include "oracle/rope/rotary_mutations.h"
#include "reference/rope/rope_rotated.h"

namespace sextant::oracle {
namespace {

template <class Real>
class MutatedBlock : public DecoderBlockFormula<Real> {
 public:
  MutatedBlock(BlockMutation mutation, const DecoderBlockAttributes& attributes,
               const Tensor<double>& position, const BlockWeights<Real>& weights,
               const BlockOutputs<Real>& out, const std::optional<RotationOfHeads>& rotation)
      : Formula(attributes, position, weights, out), mutation_(mutation), rotation_(rotation) {}

 private:
  using Formula = DecoderBlockFormula<Real>;
  using Formula::a_, Formula::out_, Formula::w_;
  using typename Formula::Branch, typename Formula::Projection;

  bool Is(BlockMutation which) const { return mutation_ == which; }

  Tensor<Real> NormedBy(const Tensor<Real>& x, const Tensor<Real>& weight) const {
    return Normed(a_.Norm(), x, weight);
  }
  bool HasNoNorm(Branch branch) const {
    return branch == Branch::kAttention ? Is(BlockMutation::kNoAttentionNorm)
                                        : Is(BlockMutation::kNoFeedForwardNorm);
  }

  Tensor<Real> BranchInput(Branch branch, const Tensor<Real>& x) const override {
    const bool late = branch == Branch::kAttention && Is(BlockMutation::kNormOfSum);
    return late || HasNoNorm(branch) ? x : Formula::BranchInput(branch, x);
  }

  Tensor<Real> BranchOutput(Branch branch, const Tensor<Real>& y) const override {
    const bool bare = a_.placement == Placement::kBranch && HasNoNorm(branch);
    return bare || PostNormIsLate() ? y : Formula::BranchOutput(branch, y);
  }
  bool PostNormIsLate() const {
    return a_.placement == Placement::kSandwich && Is(BlockMutation::kPostNormOfSum);
  }

  Tensor<Real> AfterAttention(const Tensor<Real>& x, const Tensor<Real>& attended) const override {
    if (Is(BlockMutation::kNoAttentionResidual)) return attended;
    if (Is(BlockMutation::kResidualOfNormed)) return StoredSum(*out_.normed, attended);
    const Tensor<Real> sum = Formula::AfterAttention(x, attended);
    if (Is(BlockMutation::kNormOfSum)) return NormedBy(sum, w_.attn_norm);
    return PostNormIsLate() ? NormedBy(sum, *w_.attn_post_norm) : sum;
  }

  Tensor<Real> AfterFeedForward(const Tensor<Real>& x, const Tensor<Real>& attended,
                                const Tensor<Real>& middle,
                                const Tensor<Real>& fed) const override {
    if (Is(BlockMutation::kNoFeedForwardResidual)) return fed;
    if (ChangesAttentionResidual()) return StoredSum(middle, fed);
    const Tensor<Real> y = Formula::AfterFeedForward(x, attended, middle, fed);
    return PostNormIsLate() ? NormedBy(y, *w_.mlp_post_norm) : y;
  }
  bool ChangesAttentionResidual() const {
    return Is(BlockMutation::kNoAttentionResidual) || Is(BlockMutation::kResidualOfNormed) ||
           Is(BlockMutation::kNormOfSum);
  }

  // Channel d of head h is in column d * heads + h.
  static size_t InterleavedColumn(size_t h, size_t d, size_t heads) { return d * heads + h; }

  Tensor<Real> Split(const Tensor<Real>& x, size_t heads) const override {
    Tensor<Real> y = Formula::Split(x, heads);
    const size_t S = y.shape[2], D = y.shape[3];
    for (size_t i = 0; Is(BlockMutation::kHeadsInterleaved) && i < y.data.size(); ++i)
      y.data[i] = x(i / D % S, InterleavedColumn(i / (S * D), i % D, heads));
    return y;
  }

  Tensor<Real> Merged(const Tensor<Real>& x) const override {
    Tensor<Real> y = Formula::Merged(x);
    if (Is(BlockMutation::kHeadsNotTransposed)) y.data = x.data;
    const size_t H = x.shape[1], S = x.shape[2], D = x.shape[3];
    for (size_t i = 0; Is(BlockMutation::kHeadsInterleaved) && i < x.data.size(); ++i)
      y(i / D % S, InterleavedColumn(i / (S * D), i % D, H)) = x.data[i];
    return y;
  }

  Tensor<Real> QueriesOrKeys(const Projection& p, const Tensor<Real>& x) const override {
    const Projection unnormed{p.weight, p.norm, p.heads, std::nullopt, p.of_keys};
    if (Is(BlockMutation::kKeysNotNormed) && p.of_keys) return Formula::QueriesOrKeys(unnormed, x);
    if (Is(BlockMutation::kQkNormAfterRotation)) {
      const Tensor<Real> rotated = this->Merged(Stored(Formula::QueriesOrKeys(unnormed, x)));
      return this->Split(QkNormed(a_.Norm(), p.qk_norm, rotated, p.norm, p.heads), p.heads);
    }
    if (!Is(BlockMutation::kRotatedBeforeSplit) || p.heads == 0)
      return Formula::QueriesOrKeys(p, x);
    const Tensor<Real> flat =
        QkNormed(a_.Norm(), p.qk_norm, Projected(x, p.weight), p.norm, p.heads);
    return this->Split(RotatedWhole(flat, p.heads), p.heads);
  }

  Tensor<Real> Values(const Tensor<Real>& x) const override {
    Tensor<Real> v = Formula::Values(x);
    if (!Is(BlockMutation::kValuesRotated)) return v;
    return Rotated(a_, v, {{1, x.shape[0]}, this->position_.data});
  }

  Tensor<Real> RotatedHeads(const Projection& p, const Tensor<Real>& x) const override {
    if (rotation_ && rotation_->of_keys == p.of_keys) {
      const RotaryModel& model = rotation_->model;
      const Tensor<double> position{{1, 1, x.shape[2]}, rotation_->position.data};
      Tensor<Real> y(x.shape);
      Rotate(model, AllTablesOf<Real>(model, nullptr, position), x, y);
      return y;
    }
    if (p.of_keys ? Is(BlockMutation::kKeysNotRotated) : Is(BlockMutation::kQueriesNotRotated))
      return x;
    if (Is(BlockMutation::kRotatedByHead)) return RotatedByHead(x);
    if (!Is(BlockMutation::kQueriesOneOn) || p.of_keys) return Formula::RotatedHeads(p, x);
    Tensor<double> next{{1, x.shape[2]}, this->position_.data};
    for (double& position : next.data) ++position;
    return PairRotation<Real>(a_, next)(x);
  }

  // Rotates each head by the position whose index is that of the head.
  Tensor<Real> RotatedByHead(Tensor<Real> x) const {
    const Shape shape = x.shape;
    const size_t heads = shape[1], S = shape[2];
    Tensor<double> at({heads, S});
    for (size_t i = 0; i < at.data.size(); ++i) at.data[i] = this->position_.data[i / S % S];
    x.shape = {heads, 1, S, shape[3]};
    x = PairRotation<Real>(a_, at)(x);
    x.shape = shape;
    return x;
  }

  // [S,H*D] rotated as one head.
  Tensor<Real> RotatedWhole(const Tensor<Real>& x, size_t heads) const {
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
    const auto tables = MutatedTables(
        over_all, {{1, S}, this->position_.data},
        MutatedFrequencies<Real>(over_all, a_.Frequencies(), whole.D / 2, whole), amplitude());
    Tensor<Real> rotated({1, 1, S, width});
    rotation(Tensor<Real>({1, 1, S, width}, x.data), tables.cos, tables.sin, rotated);
    rotated.shape = {S, width};
    return Stored(std::move(rotated));
  }

  AttentionMutation OfAttention() const {
    switch (mutation_) {
      case BlockMutation::kKeyHeadsTiled:
        return AttentionMutation::kKeyHeadsTiled;
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

  void Attend(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
              Tensor<Real>& mean, Tensor<Real>& lse) const override {
    Attention attention = a_.MakeAttention();
    if (Is(BlockMutation::kMaskFromTheEnd)) attention.align = Align::kBottomRight;
    AttendMutated<Real>(OfAttention(), attention, {.q = q, .k = k, .v = v}, mean, lse);
  }

  BlockMutation mutation_;
  const std::optional<RotationOfHeads>& rotation_;
};

}  // namespace

template <class Real>
void RunMutated(BlockMutation mutation, const DecoderBlockAttributes& a, const Tensor<Real>& x,
                const Tensor<double>& position, const BlockWeights<Real>& w,
                const BlockOutputs<Real>& out, const std::optional<RotationOfHeads>& rotation) {
  MutatedBlock<Real>(mutation, a, position, w, out, rotation).Run(x);
}

template void RunMutated(BlockMutation, const DecoderBlockAttributes&, const Tensor<Counted>&,
                         const Tensor<double>&, const BlockWeights<Counted>&,
                         const BlockOutputs<Counted>&, const std::optional<RotationOfHeads>&);
template void RunMutated(BlockMutation, const DecoderBlockAttributes&, const Tensor<Rounded>&,
                         const Tensor<double>&, const BlockWeights<Rounded>&,
                         const BlockOutputs<Rounded>&, const std::optional<RotationOfHeads>&);

}  // namespace sextant::oracle
