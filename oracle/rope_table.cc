#include "reference/rope_table.h"

#include "oracle/oracle.h"

namespace sextant::oracle {

template <>
Oracle MakeOracle<RopeTable>() {
  return {
      .properties = {},
      .defects = {ChangedRecipe(
          "angle_in_bf16",
          "autocast multiplies positions and frequencies in bf16 (huggingface/transformers#29285)",
          "angle=bf16")}};
}

}  // namespace sextant::oracle
