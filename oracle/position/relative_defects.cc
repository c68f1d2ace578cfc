#include "oracle/position/relative_defects.h"

#include <algorithm>

#include "oracle/defect/input_defects.h"
#include "oracle/property/common_properties.h"

namespace sextant::oracle {

std::vector<Defect> QueryKeyDefects() {
  return {
      CountedInput("queries_counted_from_zero",
                   "with a cache the new queries are taken for the first ones", "query_position"),
      CountedInput("keys_counted_from_zero", "keys are counted in the cache, whatever was evicted",
                   "key_position"),
      ShiftedInput("queries_one_late", "the distance to the next token", "query_position", 1),
      ChangedInput("queries_all_last", "every query is taken for the last one", "query_position",
                   [](Tensor<double>& p) {
                     if (!p.data.empty()) std::ranges::fill(p.data, p.data.back());
                   }),
      ClampedInput("negative_positions_clamped", "positions of padding are taken for 0",
                   "key_position"),
      ClampedInput("negative_queries_clamped", "negative positions of queries are taken for 0",
                   "query_position"),
      ChangedInputs("queries_and_keys_exchanged", "the difference has the other sign",
                    [](const Case&, Tensors& inputs) {
                      for (const char* name : {"query_position", "key_position"}) {
                        for (double& p : In(inputs, name).data) p = -p;
                      }
                      return true;
                    }),
  };
}

Tensors Later(Tensors inputs, double by) {
  for (const char* name : {"query_position", "key_position"}) {
    for (double& p : In(inputs, name).data) p += by;
  }
  return inputs;
}

Property TranslationInvariant() {
  return {"translation_invariant", "all positions shifted alike change nothing",
          [](const Case& c, const Tensors& inputs, const Ask& ask) {
            Findings findings;
            Same(ask(c, inputs), ask(c, Later(inputs, 7)), findings);
            return findings;
          }};
}

}  // namespace sextant::oracle
