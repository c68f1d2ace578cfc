#include "oracle/block/encoder_defects.h"

#include <algorithm>

#include "oracle/attention/heads_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/property/common_properties.h"
#include "reference/block/encoder_block.h"

namespace sextant::oracle {
namespace {

// The formula with one mutation.
struct Mutant : EncoderBlock {
  enum class Mutation {
    kNone,
    kNoAttentionResidual,
    kNoFeedResidual,
    kNormedResidual,      // pre: residuals are what the branches read, already normalised
    kNormBeforeAdding,    // u + N1(A u), h + N2(F h)
    kNormsBothSides,      // pre, with the norms of post as well
    kFirstNormMissing,    // post: h = u + A u
    kSecondNormMissing,   // post: y = h + F h
    kFeedNotNormed,       // pre: F reads h
    kAttentionNotNormed,  // pre: A reads u
    kFeedsInput,          // F reads u in place of h
    kPositionsAfterNorm,  // pre: added to what attention reads, once it is normalised
    kPositionsInside,     // added to what attention reads, not to the residual
    kUnbiased,            // variances over M - 1
    kEpsOutside,          // over deviation + eps
    kNotCentered,         // root mean square in place of the deviation
    kMeanKept,            // x itself over its deviation
    kNoActivation,
    kActivatedOutput,     // act(w2 w1 h): after the second layer, too
    kBiasAfterActivation  // act(w1 h) + b1
  } mutation = Mutation::kNone;
  HeadsMutation heads = HeadsMutation::kNone;

  bool Is(Mutation m) const { return mutation == m; }

  template <class Real>
  struct Layer {
    const Tensor<Real>&weight, &bias;
  };

  // The mean of a row's terms, in step sum.
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
    const ActivationFunction<Real> activation(Activating());
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
  void operator()(const Tensor<Real>& x, const Tensor<Real>& position_table, const Tensor<Real>& wq,
                  const Tensor<Real>& bq, const Tensor<Real>& wk, const Tensor<Real>& bk,
                  const Tensor<Real>& wv, const Tensor<Real>& bv, const Tensor<Real>& wo,
                  const Tensor<Real>& bo, const Tensor<Real>& norm1_weight,
                  const Tensor<Real>& norm1_bias, const Tensor<Real>& w1, const Tensor<Real>& b1,
                  const Tensor<Real>& w2, const Tensor<Real>& b2, const Tensor<Real>& norm2_weight,
                  const Tensor<Real>& norm2_bias, Tensor<Real>& y, Tensor<Real>& attention_out,
                  Tensor<Real>& middle, Tensor<Real>& hidden) const {
    const bool pre = placement == NormPlacement::kPre;
    const Layer<Real> norm1{norm1_weight, norm1_bias}, norm2{norm2_weight, norm2_bias};
    const bool late = pre && Is(Mutation::kPositionsAfterNorm);
    const Tensor<Real> sum = StoredSum(x, position_table);
    const Tensor<Real> u = late || Is(Mutation::kPositionsInside) ? x : sum;
    Tensor<Real> read = late ? x : sum;
    if (pre && !Is(Mutation::kAttentionNotNormed)) read = Normed(read, norm1);
    if (late) read = StoredSum(read, position_table);
    const size_t S = x.shape[0];
    const auto query_heads = static_cast<size_t>(H.value), key_heads = static_cast<size_t>(K.value);
    const size_t D = query_heads == 0 ? 0 : wq.shape[0] / query_heads;
    Tensor<Real> q({query_heads, S, D}), k({key_heads, S, D}), v({key_heads, S, D}),
        mean({S, query_heads * D});
    const Attention attention = Attending();
    const Sequences<Real> sequences{read, read, read};
    const MultiHeadWeights<Real> weights{
        .wq = wq, .bq = bq, .wk = wk, .bk = bk, .wv = wv, .bv = bv, .wo = wo, .bo = bo};
    attention_out = MutantHeads<Real>(heads, attention, sequences, weights)
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
    Tensor<Real> fed = Fed<Real>(in, {w1, b1}, {w2, b2}, hidden);
    if (Is(Mutation::kNormBeforeAdding)) fed = Normed(fed, norm2);
    y = Is(Mutation::kNoFeedResidual)          ? fed
        : pre && Is(Mutation::kNormedResidual) ? StoredSum(in, fed)
                                               : StoredSum(h, fed);
    if ((after && !Is(Mutation::kSecondNormMissing)) || Is(Mutation::kNormsBothSides))
      y = Normed(y, norm2);
  }
};

MutationsOf<Mutant> BlockMutations() {
  using Mutation = Mutant::Mutation;
  return {
      {"attention_residual_missing", "h is what attention answers, without what it read",
       Mutation::kNoAttentionResidual},
      {"feed_forward_residual_missing", "y is what the feed-forward answers, without what it read",
       Mutation::kNoFeedResidual},
      {"residual_of_normed", "what is added to a branch is normalised already",
       Mutation::kNormedResidual},
      {"normed_before_adding", "x + N(f(x)) in place of N(x + f(x))", Mutation::kNormBeforeAdding},
      {"normed_on_both_sides", "norms before the branches and after the sums",
       Mutation::kNormsBothSides},
      {"first_norm_missing", "the sum with attention is not normalised",
       Mutation::kFirstNormMissing},
      {"second_norm_missing", "the sum with the feed-forward is not normalised",
       Mutation::kSecondNormMissing},
      {"feed_forward_norm_missing", "placement=pre, but the feed-forward reads h itself",
       Mutation::kFeedNotNormed},
      {"attention_norm_missing", "placement=pre, but attention reads the input itself",
       Mutation::kAttentionNotNormed},
      {"feed_forward_of_the_input", "the feed-forward reads what attention read",
       Mutation::kFeedsInput},
      {"positions_after_the_norm",
       "placement=pre adds positions to what attention reads, behind its norm",
       Mutation::kPositionsAfterNorm},
      {"positions_inside_attention", "positions are added to what attention reads, not to the rest",
       Mutation::kPositionsInside},
      {"variance_over_one_less", "the unbiased variance, over M - 1", Mutation::kUnbiased},
      {"eps_outside_the_root", "(x - mean) / (deviation + eps)", Mutation::kEpsOutside},
      {"mean_not_subtracted", "x over its root mean square, as RMSNorm", Mutation::kNotCentered},
      {"mean_kept", "x itself over its deviation", Mutation::kMeanKept},
      {"activation_missing", "two linear layers are one", Mutation::kNoActivation},
      {"output_activated", "the activation is applied after the second layer too",
       Mutation::kActivatedOutput},
      {"bias_after_activation", "act(w1 x) + b1", Mutation::kBiasAfterActivation},
  };
}

}  // namespace

std::vector<Defect> EncoderFormulaDefects() {
  std::vector<Defect> defects = MutatedFormulas<Mutant>(BlockMutations());
  for (const auto& all : {HeadsMutations(), MaskMutations()}) {
    for (const auto& [name, why, mutation] : all) {
      Mutant mutant;
      mutant.heads = mutation;
      defects.push_back(MutatedFormula(name, why, mutant));
    }
  }
  return defects;
}

std::vector<Defect> EncoderInputDefects() {
  const auto shifted = [](Tensor<double>& table) {
    const auto width = static_cast<ptrdiff_t>(table.shape[1]);
    if (!table.data.empty()) std::ranges::rotate(table.data, table.data.begin() + width);
  };
  return {
      MissingInput("positions_missing", "nothing says where a token stands", "position_table"),
      DoubledInput("positions_added_twice", "by the embedding and by the block", "position_table"),
      ChangedInput("positions_of_the_next_token", "positions are counted from 1", "position_table",
                   shifted),
      MissingBias("b1"),
      MissingBias("b2"),
      MissingBias("norm1_bias"),
      MissingBias("norm2_bias"),
      FilledInput("norm1_weight_ignored", "the first norm's weight is taken for 1", "norm1_weight",
                  1),
      FilledInput("norm2_weight_ignored", "the second norm's weight is taken for 1", "norm2_weight",
                  1),
      ExchangedInputs("norms_exchanged", "each norm has the other's weight and bias",
                      {{"norm1_weight", "norm2_weight"}, {"norm1_bias", "norm2_bias"}}),
      RepeatedInputs("one_norm_for_both", "the first norm is used twice",
                     {{"norm1_weight", "norm2_weight"}, {"norm1_bias", "norm2_bias"}}),
      TransposedWeight("w1"),
      TransposedWeight("w2"),
      ExchangedInputs("feed_forward_layers_exchanged", "w2 first", {{"w1", "w2"}, {"b1", "b2"}}),
      ChangedRecipe("norm_sums_in_bf16", "means and variances are summed in bf16", "sum=bf16"),
      ChangedRecipe("activation_in_bf16", "the activation is computed in bf16", "activation=bf16"),
  };
}

}  // namespace sextant::oracle
