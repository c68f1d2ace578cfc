#include "reference/layer/feed_forward_bias.h"

#include "oracle/defect/catalog_entry.h"
#include "oracle/defect/input_defects.h"
#include "oracle/layer/feed_forward_properties.h"

namespace sextant::oracle {
namespace {

std::vector<Defect> BiasDefects() {
  return {
      MissingInput("gate_bias_missing", "no gate_bias", "gate_bias"),
      MissingInput("up_bias_missing", "no up_bias", "up_bias"),
      MissingInput("down_bias_missing", "no down_bias", "down_bias"),
      DoubledInput("gate_bias_added_twice", "gate_bias is added by two kernels", "gate_bias"),
      DoubledInput("up_bias_added_twice", "up_bias is added by two kernels", "up_bias"),
      DoubledInput("down_bias_added_twice", "down_bias is added by two kernels", "down_bias"),
      ExchangedInputs("biases_swapped", "gate and up have each other's bias",
                      {{"gate_bias", "up_bias"}}),
      ChangedRecipe("bias_in_bf16", "biases are added in bf16 whatever the dtype", "bias=bf16"),
      ChangedRecipe("bias_in_f16", "biases are added in f16 whatever the dtype", "bias=f16"),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<FeedForwardBias>() {
  return {.properties = FeedForwardProperties(),
          .defects = Joined<Defect>({BiasDefects(), FeedForwardDefects()})};
}

}  // namespace sextant::oracle
