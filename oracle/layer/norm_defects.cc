#include "oracle/layer/norm_defects.h"

#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {

MutationsOf<MutatedRmsNorm> RmsMutations() {
  using Mutation = MutatedRmsNorm::Mutation;
  return {
      {"eps_outside_the_root", "eps is outside the root: x / (rms + eps) (apple/coremltools#2822)",
       Mutation::kEpsOutside},
      {"sum_for_mean", "the sum of squares is used instead of their mean", Mutation::kSum},
      {"mean_over_padding", "vector lanes beyond the end of the row count in the mean",
       Mutation::kPadded},
      {"mean_over_one_less", "the sum is divided by M - 1, as for an unbiased variance",
       Mutation::kUnbiased},
      {"root_missing", "the root is missing: x / (mean square + eps)", Mutation::kSquareOfRoot},
      {"mean_subtracted", "the mean is subtracted from x, as in layer norm",
       Mutation::kMeanSubtracted},
      {"variance_for_mean_square",
       "x is divided by the deviation of layer norm, but the mean is not subtracted",
       Mutation::kVariance},
      {"eps_as_floor",
       "eps is a lower bound: max(mean square, eps), as in other vector normalisations",
       Mutation::kEpsAsFloor},
      {"weight_added", "the weight is added like a bias", Mutation::kWeightAdded},
      {"mean_of_first_row", "every row is divided by the root of the first one",
       Mutation::kFirstRow, true},
      {"mean_down_the_columns", "the mean runs down the columns", Mutation::kColumns, true},
      {"mean_over_all_rows",
       "all rows share one mean, like heads that are normalised before they are split",
       Mutation::kWhole, true},
  };
}

std::vector<Defect> NormDefects() {
  return {
      ChangedWord("eps_missing", "eps is not added", "eps=0"),
      ChangedWord("eps_of_bf16",
                  "eps is 2^-7, the machine epsilon of bf16 (pytorch/pytorch#189581)",
                  "eps=0.0078125"),
      ChangedWord("eps_of_llama", "eps is 1e-6, as in the first Llama, T5 and Qwen", "eps=1e-06"),
      ChangedWord("eps_added_to_the_sum", "eps is added before the division by M",
                  [](const Case& c) {
                    const size_t M = std::max<size_t>(1, ExtentOf(c, "M"));
                    return "eps=" + PrintValue(NumberOf(c, "eps", 0) / static_cast<double>(M));
                  }),
      ChangedRecipe("squares_in_f16",
                    "squares are computed in f16: elements beyond 256 overflow "
                    "(openvinotoolkit/openvino#36504)",
                    "square=f16 sum=f16"),
      ChangedRecipe(
          "sum_in_bf16",
          "squares are summed in bf16, with 8 bits of significand (nnstreamer/nntrainer#3935)",
          "sum=bf16"),
      ChangedRecipe("root_in_bf16", "the reciprocal root is stored in bf16", "rsqrt=bf16"),
      ChangedRecipe("weight_in_bf16", "the weight is multiplied in bf16 for every dtype",
                    "weigh=bf16"),
  };
}

}  // namespace sextant::oracle
