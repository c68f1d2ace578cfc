#include "reference/layer/feed_forward_bias.h"

#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/layer/feed_forward_properties.h"
#include "oracle/layer/measured/feed_forward.h"

namespace sextant::oracle {
namespace {

std::vector<Defect> FeedForwardBiasBiasDefects() {
  return {
      MissingInput("gate_bias_missing", "gate_bias is not added", "gate_bias"),
      MissingInput("up_bias_missing", "up_bias is not added", "up_bias"),
      MissingInput("down_bias_missing", "down_bias is not added", "down_bias"),
      DoubledInput("gate_bias_added_twice", "gate_bias is added by two kernels", "gate_bias"),
      DoubledInput("up_bias_added_twice", "up_bias is added by two kernels", "up_bias"),
      DoubledInput("down_bias_added_twice", "down_bias is added by two kernels", "down_bias"),
      ExchangedInputs("biases_swapped", "gate_bias and up_bias are swapped",
                      {{"gate_bias", "up_bias"}}),
      ChangedRecipe("bias_in_bf16", "biases are added in bf16 for every dtype", "bias=bf16"),
      ChangedRecipe("bias_in_f16", "biases are added in f16 for every dtype", "bias=f16"),
  };
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<FeedForwardBias>() {
  return {.properties = FeedForwardProperties(),
          .defects = Joined<Defect>({FeedForwardBiasBiasDefects(), FeedForwardDefects()}),
          .measurements = FeedForwardMeasurements()};
}

}  // namespace sextant::oracle
