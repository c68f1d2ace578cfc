#include "oracle/block/encoder_defects.h"

#include <algorithm>
#include <iterator>

#include "oracle/attention/heads_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/property/property.h"
#include "reference/block/encoder_block.h"

namespace sextant::oracle {
namespace {

// The formula with one mutation.
struct MutatedEncoderBlock : EncoderBlock {
  enum class Mutation {
    kNone,
    kNoAttentionResidual,
    kNoFeedResidual,
    kNormedResidual,      // pre: the residual is the normalised input of the branch
    kNormBeforeAdding,    // u + N1(A u), h + N2(F h)
    kNormsBothSides,      // pre, with the norms of post as well
    kFirstNormMissing,    // post: h = u + A u
    kSecondNormMissing,   // post: y = h + F h
    kFeedNotNormed,       // pre: F reads h
    kAttentionNotNormed,  // pre: A reads u
    kFeedsInput,          // F reads u instead of h
    kPositionsAfterNorm,  // pre: positions are added to the attention input after its norm
    kPositionsInside,     // positions are added to the attention input, not to the residual
    kUnbiased,            // variances are divided by M - 1
    kEpsOutside,          // divided by deviation + eps
    kNotCentered,         // root mean square instead of the deviation
    kMeanKept,            // x / deviation: the mean is not subtracted
    kNoActivation,
    kActivatedOutput,     // the activation is applied after the second layer, too
    kBiasAfterActivation  // act(w1 h) + b1
  } mutation = Mutation::kNone;
  HeadsMutation heads = HeadsMutation::kNone;

  bool Is(Mutation m) const { return mutation == m; }

  template <class Real>
  struct Layer {
    const Tensor<Real>&weight, &bias;
  };

  // The mean of the terms of a row, in step sum.
  template <class Real>
  static Real MeanOf(const std::vector<Real>& terms, double count) {
    const ScopedStep at(Step::kSum);
    return SumOf(terms) / Real(count);
  }
  template <class Real>
  Tensor<Real> Normed(const Tensor<Real>& x, const Layer<Real>& w) const {
    Tensor<Real> y(x.shape);
    const size_t M = x.shape[1];
    const auto width = static_cast<double>(M);
    for (size_t n = 0; n < x.shape[0] && M > 0; ++n) {
      std::vector<Real> centered, squares;
      for (size_t j = 0; j < M; ++j) centered.push_back(x(n, j));
      const Real mean = MeanOf(centered, width);
      for (Real& value : centered) {
        const ScopedStep at(Step::kCenter);
        if (!Is(Mutation::kNotCentered)) value = value - mean;
      }
      for (const Real& value : centered) {
        const ScopedStep at(Step::kSquare);
        squares.push_back(value * value);
      }
      const Real variance =
          MeanOf(squares, Is(Mutation::kUnbiased) ? std::max(1.0, width - 1) : width);
      Real root;
      {
        const ScopedStep at(Step::kRsqrt);
        root = Is(Mutation::kEpsOutside) ? Sqrt(variance) + Real(eps) : Sqrt(variance + Real(eps));
      }
      for (size_t j = 0; j < M; ++j) {
        Real scaled = Is(Mutation::kMeanKept) ? x(n, j) : centered[j];
        {
          const ScopedStep at(Step::kScale);
          scaled = scaled / root;
        }
        {
          const ScopedStep at(Step::kWeigh);
          scaled = scaled * w.weight(j);
        }
        const ScopedStep at(Step::kBias);
        y(n, j) = scaled + w.bias(j);
      }
    }
    return Stored(std::move(y));
  }

  template <class Real>
  Tensor<Real> Activated(Tensor<Real> x) const {
    const ActivationFunction<Real> activation(FeedForwardActivation());
    for (Real& value : x.data) value = activation(value);
    return x;
  }
  template <class Real>
  Tensor<Real> Fed(const Tensor<Real>& x, const Layer<Real>& first, const Layer<Real>& second,
                   Tensor<Real>& hidden) const {
    Tensor<Real> none = first.bias;
    for (Real& b : none.data) b = Real(0.0);
    const bool late = Is(Mutation::kBiasAfterActivation);
    hidden = Stored(Projected(x, first.weight, late ? none : first.bias));
    if (!Is(Mutation::kNoActivation)) hidden = Activated(hidden);
    if (late) {
      const ScopedStep at(Step::kBias);
      for (size_t i = 0; i < hidden.data.size(); ++i)
        hidden.data[i] = hidden.data[i] + first.bias(i % first.bias.data.size());
    }
    Tensor<Real> y = Stored(Projected(Intermediate(hidden), second.weight, second.bias));
    return Is(Mutation::kActivatedOutput) ? Stored(Activated(std::move(y))) : y;
  }

  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& position_table,
                  const EncoderWeights<Real>& w, Tensor<Real>& y, Tensor<Real>& attention_out,
                  Tensor<Real>& middle, Tensor<Real>& hidden) const {
    const bool pre = placement == NormPlacement::kPre;
    const Layer<Real> norm1{w.norm1_weight, w.norm1_bias}, norm2{w.norm2_weight, w.norm2_bias};
    const bool late = pre && Is(Mutation::kPositionsAfterNorm);
    const Tensor<Real> sum = StoredSum(x, position_table);
    const Tensor<Real> u = late || Is(Mutation::kPositionsInside) ? x : sum;
    Tensor<Real> read = late ? x : sum;
    if (pre && !Is(Mutation::kAttentionNotNormed)) read = Normed(read, norm1);
    if (late) read = StoredSum(read, position_table);
    const size_t S = x.shape[0];
    const auto query_heads = static_cast<size_t>(H.value), key_heads = static_cast<size_t>(K.value);
    const size_t D = query_heads == 0 ? 0 : w.heads.wq.shape[0] / query_heads;
    Tensor<Real> q({query_heads, S, D}), k({key_heads, S, D}), v({key_heads, S, D}),
        mean({S, query_heads * D});
    const Attention attention = MakeAttention();
    const Sequences<Real> sequences{read, read, read};
    attention_out = MutatedHeads<Real>(heads, attention, sequences, w.heads)
                        .Answer({.q = q, .k = k, .v = v, .mean = mean});
    Tensor<Real> attended = Intermediate(attention_out);
    if (Is(Mutation::kNormBeforeAdding)) attended = Normed(attended, norm1);
    middle = Is(Mutation::kNoAttentionResidual)     ? attended
             : pre && Is(Mutation::kNormedResidual) ? StoredSum(read, attended)
                                                    : StoredSum(u, attended);
    const bool after = !pre && !Is(Mutation::kNormBeforeAdding);
    if ((after && !Is(Mutation::kFirstNormMissing)) || Is(Mutation::kNormsBothSides))
      middle = Normed(middle, norm1);
    const Tensor<Real> h = Intermediate(middle);
    Tensor<Real> in = Is(Mutation::kFeedsInput) ? u : h;
    if (pre && !Is(Mutation::kFeedNotNormed)) in = Normed(in, norm2);
    Tensor<Real> fed = Fed<Real>(in, {w.w1, w.b1}, {w.w2, w.b2}, hidden);
    if (Is(Mutation::kNormBeforeAdding)) fed = Normed(fed, norm2);
    y = Is(Mutation::kNoFeedResidual)          ? fed
        : pre && Is(Mutation::kNormedResidual) ? StoredSum(in, fed)
                                               : StoredSum(h, fed);
    if ((after && !Is(Mutation::kSecondNormMissing)) || Is(Mutation::kNormsBothSides))
      y = Normed(y, norm2);
  }
};

MutationsOf<MutatedEncoderBlock> EncoderMutations() {
  using Mutation = MutatedEncoderBlock::Mutation;
  return {
      {"attention_residual_missing", "the residual is not added to the attention output",
       Mutation::kNoAttentionResidual},
      {"feed_forward_residual_missing", "the residual is not added to the feed-forward output",
       Mutation::kNoFeedResidual},
      {"residual_of_normed", "the residual is the normalised input of the branch",
       Mutation::kNormedResidual},
      {"normed_before_adding", "the norm comes before the sum: x + N(f(x)) instead of N(x + f(x))",
       Mutation::kNormBeforeAdding},
      {"normed_on_both_sides", "there are norms before the branches and after the sums",
       Mutation::kNormsBothSides},
      {"first_norm_missing", "the sum with attention is not normalised",
       Mutation::kFirstNormMissing},
      {"second_norm_missing", "the sum with the feed-forward is not normalised",
       Mutation::kSecondNormMissing},
      {"feed_forward_norm_missing", "with placement=pre the feed-forward reads h without its norm",
       Mutation::kFeedNotNormed},
      {"attention_norm_missing", "with placement=pre attention reads its input without the norm",
       Mutation::kAttentionNotNormed},
      {"feed_forward_of_the_input", "the feed-forward reads the input of attention",
       Mutation::kFeedsInput},
      {"positions_after_the_norm",
       "with placement=pre positions are added after the norm of attention",
       Mutation::kPositionsAfterNorm},
      {"positions_inside_attention",
       "positions are added to the attention input, but not to the residual",
       Mutation::kPositionsInside},
      {"variance_over_one_less", "the variance is the unbiased one, divided by M - 1",
       Mutation::kUnbiased},
      {"eps_outside_the_root", "eps is outside the root: (x - mean) / (deviation + eps)",
       Mutation::kEpsOutside},
      {"mean_not_subtracted", "x is divided by its root mean square, as in RMSNorm",
       Mutation::kNotCentered},
      {"mean_kept", "x is divided by its deviation, but the mean is not subtracted",
       Mutation::kMeanKept},
      {"activation_missing", "the activation is missing: the two linear layers are one",
       Mutation::kNoActivation},
      {"output_activated", "the activation is applied after the second layer too",
       Mutation::kActivatedOutput},
      {"bias_after_activation", "the first bias is added after the activation: act(w1 x) + b1",
       Mutation::kBiasAfterActivation},
  };
}

}  // namespace

std::vector<Defect> EncoderFormulaDefects() {
  return Joined<Defect>(
      {MutatedFormulas<MutatedEncoderBlock>(EncoderMutations()),
       MutatedFormulas<MutatedEncoderBlock, &MutatedEncoderBlock::heads>(
           Joined<NamedMutation<HeadsMutation>>({HeadsMutations(), MaskMutations()}))});
}

std::vector<Defect> EncoderInputDefects() {
  const auto shifted = [](Tensor<double>& table) {
    const auto width = static_cast<ptrdiff_t>(table.shape[1]);
    if (!table.data.empty()) std::ranges::rotate(table.data, table.data.begin() + width);
  };
  return {
      MissingInput("positions_missing", "position_table is not added", "position_table"),
      DoubledInput("positions_added_twice",
                   "positions are added by the embedding and again by the block", "position_table"),
      ChangedInput("positions_of_the_next_token", "positions are counted from 1", "position_table",
                   shifted),
      MissingBias("b1"),
      MissingBias("b2"),
      MissingBias("norm1_bias"),
      MissingBias("norm2_bias"),
      FilledInput("norm1_weight_ignored", "1 is used instead of the weight of the first norm",
                  "norm1_weight", 1),
      FilledInput("norm2_weight_ignored", "1 is used instead of the weight of the second norm",
                  "norm2_weight", 1),
      ExchangedInputs("norms_exchanged", "the weights and biases of the two norms are swapped",
                      {{"norm1_weight", "norm2_weight"}, {"norm1_bias", "norm2_bias"}}),
      RepeatedInputs("one_norm_for_both", "the first norm is used twice",
                     {{"norm1_weight", "norm2_weight"}, {"norm1_bias", "norm2_bias"}}),
      TransposedWeight("w1"),
      TransposedWeight("w2"),
      ExchangedInputs("feed_forward_layers_exchanged", "w2 and b2 are applied before w1 and b1",
                      {{"w1", "w2"}, {"b1", "b2"}}),
      ChangedRecipe("norm_sums_in_bf16", "means and variances are summed in bf16", "sum=bf16"),
      ChangedRecipe("activation_in_bf16", "the activation is computed in bf16", "activation=bf16"),
  };
}

}  // namespace sextant::oracle
