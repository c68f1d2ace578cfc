#include "oracle/attention/heads_defects.h"

#include "oracle/attention/attention_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"

namespace sextant::oracle {

std::vector<NamedMutation<HeadsMutation>> HeadsMutations() {
  using Mutation = HeadsMutation;
  return {
      {"heads_not_transposed", "[H,S,D] is viewed as [S,H*D] without transposing",
       Mutation::kHeadsNotTransposed},
      {"heads_not_transposed_back", "[S,H*D] is viewed as [H,S,D] without transposing",
       Mutation::kHeadsNotTransposedBack},
      {"heads_interleaved", "head h has channels h, H + h, 2H + h, ... instead of h D, h D + 1 ...",
       Mutation::kInterleaved},
      {"key_heads_tiled", "query head h reads key head h mod K", Mutation::kKeyHeadsTiled},
      {"key_head_of_first", "every query head reads the first key head", Mutation::kFirstKeyHead},
      {"scale_missing", "scores are not divided by sqrt(D)", Mutation::kScaleMissing},
      {"scale_of_all_heads", "scores are divided by sqrt(H*D), the model's width",
       Mutation::kScaleOfAllHeads},
      {"scale_by_width", "scores are divided by D", Mutation::kScaleByWidth},
      {"scaled_twice", "queries are scaled, and scores again", Mutation::kScaledTwice},
      {"softmax_over_queries", "the softmax runs over the queries instead of the keys",
       Mutation::kSoftmaxOverQueries},
      {"softmax_missing", "the scores are the weights: there is no softmax",
       Mutation::kSoftmaxMissing},
      {"padding_alone_is_read", "the padding mask is inverted: only padding is read",
       Mutation::kPaddingOnly},
      {"output_bias_with_every_head", "bo is added once for each head",
       Mutation::kBiasWithEveryHead},
      {"empty_rows_mean",
       "masked scores are finite, so a token that reads none gets the mean of all values",
       Mutation::kMeanOfEmpty},
      {"one_head", "all heads share one softmax over the dot products of whole rows",
       Mutation::kOneHead},
  };
}

std::vector<NamedMutation<HeadsMutation>> MaskMutations() {
  return {
      {"only_itself", "each token reads only itself: tokens are used as a batch (batch_first)",
       HeadsMutation::kOnlyItself},
      {"mask_of_the_wrong_side", "a token sees itself and later tokens", HeadsMutation::kMaskAhead},
      {"self_masked", "a token sees earlier tokens, but not itself", HeadsMutation::kSelfMasked},
      {"mask_from_the_end", "the mask aligns the last query with the last key that is not padding",
       HeadsMutation::kMaskFromTheEnd},
  };
}

Defect MissingBias(const std::string& bias) {
  return MissingInput(bias + "_missing", "a projection without its bias " + bias, bias);
}

Defect TransposedWeight(const std::string& weight) {
  return TransposedInput(weight + "_transposed", weight + " is read as [in,out]", weight);
}

std::vector<Defect> HeadsInputDefects() {
  return {
      LengthOneMore(),
      MissingBias("bq"),
      MissingBias("bv"),
      MissingBias("bo"),
      TransposedWeight("wq"),
      TransposedWeight("wk"),
      TransposedWeight("wv"),
      TransposedWeight("wo"),
      ExchangedInputs("queries_and_keys_exchanged", "wq and wk are swapped",
                      {{"wq", "wk"}, {"bq", "bk"}}),
      ExchangedInputs("keys_and_values_exchanged", "wk and wv are swapped",
                      {{"wk", "wv"}, {"bk", "bv"}}),
      ExchangedInputs("biases_of_queries_and_values_exchanged",
                      "the packed bias is split in another order than the packed weight",
                      {{"bq", "bv"}}),
  };
}

std::vector<Defect> HeadsRecipeDefects() {
  return Joined<Defect>(
      {AttentionRecipeDefects(),
       {ChangedRecipe("dot_in_f16", "dot products are accumulated in f16", "dot=f16"),
        ChangedRecipe("bias_in_bf16", "biases are added in bf16 for every dtype", "bias=bf16"),
        ChangedRecipe("intermediates_in_bf16", "intermediates are stored in bf16 for every dtype",
                      "keep=bf16")}});
}

}  // namespace sextant::oracle
