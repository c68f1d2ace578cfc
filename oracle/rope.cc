#include "reference/rope.h"

#include "oracle/oracle.h"

namespace sextant::oracle {

template <>
Oracle MakeOracle<Rope>() {
  return {
      .properties = {},
      .defects = {ChangedRecipe(
          "angle_in_bf16",
          "autocast multiplies positions and frequencies in bf16 (huggingface/transformers#29285)",
          "angle=bf16")}};
}

}  // namespace sextant::oracle
