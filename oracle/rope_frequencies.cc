#include "reference/rope_frequencies.h"

#include "oracle/oracle.h"

namespace sextant::oracle {

template <>
Oracle MakeOracle<RopeFrequencies>() {
  return {.properties = {},
          .defects = {ChangedRecipe(
              "frequencies_in_bf16",
              "a cast of the module rounds its frequencies too (huggingface/transformers#29496)",
              "frequency=bf16")}};
}

}  // namespace sextant::oracle
