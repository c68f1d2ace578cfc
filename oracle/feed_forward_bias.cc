#include "reference/feed_forward_bias.h"

#include <algorithm>

#include "oracle/feed_forward_laws.h"
#include "oracle/laws.h"
#include "oracle/oracle.h"

namespace sextant::oracle {
namespace {

Defect WithoutBias(const std::string& input) {
  return ChangedInputs(input + "_missing", "no " + input, [input](const Case&, Tensors& inputs) {
    std::ranges::fill(In(inputs, input).data, 0);
    return true;
  });
}

Defect TwiceTheBias(const std::string& input) {
  return ChangedInputs(input + "_added_twice", input + " is added by two kernels",
                       [input](const Case&, Tensors& inputs) {
                         In(inputs, input) = Times(In(inputs, input), 2);
                         return true;
                       });
}

std::vector<Defect> BiasDefects() {
  return {
      WithoutBias("gate_bias"),
      WithoutBias("up_bias"),
      WithoutBias("down_bias"),
      TwiceTheBias("gate_bias"),
      TwiceTheBias("up_bias"),
      TwiceTheBias("down_bias"),
      ChangedInputs("biases_swapped", "gate and up have each other's bias",
                    [](const Case&, Tensors& inputs) {
                      std::swap(In(inputs, "gate_bias").data, In(inputs, "up_bias").data);
                      return true;
                    }),
      ChangedRecipe("biases_in_bf16", "biases are added in bf16 whatever the dtype", "bias=bf16"),
      ChangedRecipe("biases_in_f16", "biases are added in f16 whatever the dtype", "bias=f16"),
  };
}

}  // namespace

template <>
Oracle MakeOracle<FeedForwardBias>() {
  return {.properties = FeedForwardLaws(),
          .defects = Joined<Defect>({BiasDefects(), FeedForwardDefects()})};
}

}  // namespace sextant::oracle
