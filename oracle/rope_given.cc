#include "reference/rope_given.h"

#include "oracle/oracle.h"

namespace sextant::oracle {

template <>
Oracle MakeOracle<RopeGiven>() {
  return {
      .properties = {},
      .defects = {ChangedRecipe(
          "angle_in_bf16",
          "autocast multiplies positions and frequencies in bf16 (huggingface/transformers#29285)",
          "angle=bf16")}};
}

}  // namespace sextant::oracle
