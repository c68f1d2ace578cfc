#include "reference/rope_matrix.h"

#include "oracle/oracle.h"

namespace sextant::oracle {

template <>
Oracle MakeOracle<RopeMatrix>() {
  return {
      .properties = {},
      .defects = {ChangedRecipe(
          "angle_in_bf16",
          "autocast multiplies positions and frequencies in bf16 (huggingface/transformers#29285)",
          "angle=bf16")}};
}

}  // namespace sextant::oracle
