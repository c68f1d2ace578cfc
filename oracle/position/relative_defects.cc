#include "oracle/position/relative_defects.h"

#include <algorithm>

#include "oracle/defect/input_defects.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {

std::vector<Defect> QueryKeyDefects() {
  return {
      CountedInput("queries_counted_from_zero",
                   "queries are counted from 0 although the cache holds earlier tokens",
                   "query_position"),
      CountedInput("keys_counted_from_zero",
                   "keys are counted from the start of the cache although some were evicted",
                   "key_position"),
      ShiftedInput("queries_one_late", "the position of a query is that of the next token",
                   "query_position", 1),
      ChangedInput("queries_all_last", "every query has the position of the last one",
                   "query_position",
                   [](Tensor<double>& p) {
                     if (!p.data.empty()) std::ranges::fill(p.data, p.data.back());
                   }),
      ClampedInput("negative_positions_clamped",
                   "negative positions of keys (padding) are replaced by 0", "key_position"),
      ClampedInput("negative_queries_clamped", "negative positions of queries are replaced by 0",
                   "query_position"),
      ChangedInputs("queries_and_keys_exchanged",
                    "the difference of the positions has the wrong sign",
                    [](const Case&, Tensors& inputs) {
                      for (const char* name : {"query_position", "key_position"}) {
                        for (double& p : InputNamed(inputs, name).data) p = -p;
                      }
                      return true;
                    }),
  };
}

Tensors WithShiftedPositions(Tensors inputs, double by) {
  for (const char* name : {"query_position", "key_position"}) {
    for (double& p : InputNamed(inputs, name).data) p += by;
  }
  return inputs;
}

Property TranslationInvariant() {
  return {"translation_invariant", "shifting all positions by the same distance changes nothing",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            Comparisons comparisons;
            ExpectEqual(ask(c, inputs), ask(c, WithShiftedPositions(inputs, 7)), comparisons);
            return comparisons;
          }};
}

}  // namespace sextant::oracle
