#include "oracle/layer/norm_defects.h"

#include "oracle/property/common_properties.h"

namespace sextant::oracle {

MutationsOf<RmsNormMutant> RmsMutations() {
  using Mutation = RmsNormMutant::Mutation;
  return {
      {"eps_outside_the_root", "x / (rms + eps) (apple/coremltools#2822)", Mutation::kEpsOutside},
      {"sum_for_mean", "the sum of squares in place of their mean", Mutation::kSum},
      {"mean_over_padding", "lanes beyond the row's end count in the mean", Mutation::kPadded},
      {"mean_over_one_less", "divided by M - 1, as an unbiased variance", Mutation::kUnbiased},
      {"root_missing", "x / (mean square + eps)", Mutation::kSquareOfRoot},
      {"mean_subtracted", "x less its mean, as layer norm has it", Mutation::kMeanSubtracted},
      {"variance_for_mean_square", "the root is layer norm's, x keeps its mean",
       Mutation::kVariance},
      {"eps_as_floor", "max(mean square, eps), as vectors are normalised elsewhere",
       Mutation::kEpsAsFloor},
      {"weight_added", "the weight is added as a bias is", Mutation::kWeightAdded},
      {"mean_of_first_row", "every row is divided by the root of the first", Mutation::kFirstRow},
      {"mean_down_the_columns", "the mean goes over the wrong axis", Mutation::kColumns},
      {"mean_over_all_rows",
       "all rows share one mean, as heads do where queries are normalised before they are split",
       Mutation::kWhole},
  };
}

std::vector<Defect> NormDefects() {
  return {
      ChangedWord("eps_missing", "no eps at all", "eps=0"),
      ChangedWord("eps_of_bf16",
                  "eps is the distance of neighbours in bf16 (pytorch/pytorch#189581)",
                  "eps=0.0078125"),
      ChangedWord("eps_of_llama", "eps is 1e-6, as in the first Llama, T5 and Qwen", "eps=1e-06"),
      ChangedWord("eps_added_to_the_sum", "eps is added before the division by M",
                  [](const Case& c) {
                    const size_t M = std::max<size_t>(1, ExtentOf(c, "M"));
                    return "eps=" + PrintValue(NumberOf(c, "eps", 0) / static_cast<double>(M));
                  }),
      ChangedRecipe("squares_in_f16",
                    "squares beyond 256 overflow (openvinotoolkit/openvino#36504)",
                    "square=f16 sum=f16"),
      ChangedRecipe("sum_in_bf16", "an 8-bit mean (nnstreamer/nntrainer#3935)", "sum=bf16"),
      ChangedRecipe("root_in_bf16", "the reciprocal root is kept in bf16", "rsqrt=bf16"),
      ChangedRecipe("weight_in_bf16", "the weight is multiplied in bf16 whatever the dtype",
                    "weigh=bf16"),
  };
}

}  // namespace sextant::oracle
