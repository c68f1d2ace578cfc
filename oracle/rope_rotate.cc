#include "reference/rope_rotate.h"

#include "oracle/oracle.h"

namespace sextant::oracle {

template <>
Oracle MakeOracle<RopeRotate>() {
  return {.properties = {},
          .defects = {ChangedWord(
              "other_pairing",
              "weights of one layout rotated in the other (huggingface/transformers#25199)",
              "pairing=interleaved")}};
}

}  // namespace sextant::oracle
