#include "oracle/attention/heads_defects.h"

#include "oracle/attention/attention_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/defect/oracle.h"

namespace sextant::oracle {

std::vector<HeadsMistakeName> HeadsMistakes() {
  using Mistake = HeadsMistake;
  return {
      {"heads_viewed_back", "[H,S,D] is viewed as [S,H*D] without transposing",
       Mistake::kViewedBack},
      {"heads_viewed_apart", "[S,H*D] is viewed as [H,S,D] without transposing",
       Mistake::kViewedApart},
      {"heads_interleaved",
       "head h has channels h, H + h, 2H + h, ... in place of h D, h D + 1 ...",
       Mistake::kInterleaved},
      {"key_heads_by_turns", "query head h reads key head h mod K", Mistake::kGroupsByTurns},
      {"first_key_head_for_all", "every query head reads the first key head",
       Mistake::kFirstKeyHead},
      {"score_scale_missing", "scores are not divided by sqrt(D)", Mistake::kScaleMissing},
      {"score_scale_of_all_heads", "scores are divided by sqrt(H*D), the model's width",
       Mistake::kScaleOfAllHeads},
      {"score_scale_by_width", "scores are divided by D", Mistake::kScaleByWidth},
      {"scaled_twice", "queries are scaled, and so are scores", Mistake::kScaledTwice},
      {"softmax_over_queries", "the softmax goes over the wrong axis",
       Mistake::kSoftmaxOverQueries},
      {"softmax_missing", "the scores weigh as they are", Mistake::kSoftmaxMissing},
      {"padding_alone_is_read", "a mask that says what is padding is taken for what may be read",
       Mistake::kPaddingOnly},
      {"output_bias_with_every_head", "bo is added with each head's part of the output",
       Mistake::kBiasWithEveryHead},
      {"empty_rows_mean",
       "with a finite number for -infinity a token that reads none gets the mean of all values",
       Mistake::kMeanOfEmpty},
      {"one_head", "all heads share one softmax, over the products of whole rows",
       Mistake::kOneHead},
  };
}

std::vector<HeadsMistakeName> MaskMistakes() {
  return {
      {"only_itself", "each token reads itself alone: tokens are taken for a batch (batch_first)",
       HeadsMistake::kOnlyItself},
      {"mask_of_the_wrong_side", "a token sees itself and what comes after it",
       HeadsMistake::kMaskAhead},
      {"mask_without_itself", "a token sees what comes before it, but not itself",
       HeadsMistake::kMaskStrict},
      {"mask_from_the_end", "the last token is taken for the last one that is no padding",
       HeadsMistake::kMaskFromTheEnd},
  };
}

Defect MissingBias(const std::string& bias) {
  return MissingInput(bias + "_missing", "a projection without its bias " + bias, bias);
}

Defect TransposedWeight(const std::string& weight) {
  return TransposedInput(weight + "_transposed", weight + " is stored [in,out]", weight);
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
      ExchangedInputs("queries_and_keys_exchanged", "wq and wk in each other's place",
                      {{"wq", "wk"}, {"bq", "bk"}}),
      ExchangedInputs("keys_and_values_exchanged", "wk and wv in each other's place",
                      {{"wk", "wv"}, {"bk", "bv"}}),
      ExchangedInputs("biases_of_queries_and_values_exchanged",
                      "the packed bias is cut in another order than the packed weight",
                      {{"bq", "bv"}}),
  };
}

std::vector<Defect> HeadsRecipeDefects() {
  return Joined<Defect>(
      {AttentionRecipeDefects(),
       {ChangedRecipe("dot_in_f16", "dot products are accumulated in f16", "dot=f16"),
        ChangedRecipe("bias_in_bf16", "biases are added in bf16 whatever the dtype", "bias=bf16"),
        ChangedRecipe("handed_on_in_bf16", "what is handed on is kept in bf16 whatever the dtype",
                      "keep=bf16")}});
}

}  // namespace sextant::oracle
