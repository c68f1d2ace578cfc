#include "oracle/position/measured/masked_keys.h"

#include <algorithm>
#include <cmath>

#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/measured_number.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {

std::vector<Explanation> MeasureMaskedKeys(const Observation& seen) {
  const auto bias = AnsweredTensorOf(seen, 0);
  if (!bias || bias->failing.empty() || bias->shape.size() != 3) return {};
  const double number = bias->got[bias->failing[0]];
  // A mask is less than every bias.
  if (!(number < std::ranges::min(bias->right))) return {};
  const std::vector<double>&query = InputNamed(seen.inputs, "query_position").data,
        &key = InputNamed(seen.inputs, "key_position").data;
  bool are_later = true, are_earlier = true;  // the keys that have the number, and no others
  size_t masked = 0;
  for (size_t i = 0; i < bias->got.size(); ++i) {
    const double i_q = query[i / key.size() % query.size()], j = key[i % key.size()];
    const bool is_masked = SameNumber(bias->got[i], number);
    if (!is_masked && !bias->Conforms(i)) return {};
    masked += is_masked;
    are_later &= is_masked == (j > i_q);
    are_earlier &= is_masked == (j < i_q);
  }
  if (!are_later && !are_earlier) return {};
  // A number is fitted to one element: others must have it, too. Keys of all queries would be no
  // mask but a constant.
  constexpr size_t kFewest = 3;
  if (masked == bias->got.size() || (!std::isinf(number) && masked < kFewest)) return {};
  const std::string text = std::isinf(number) ? "-infinity" : ShortText(number);
  return {{"keys_masked",
           "bias is " + text + " for all keys " + (are_later ? "after" : "before") +
               " the query: a mask" + (are_later ? ", as for causal attention" : ""),
           {nullptr, SharedInputs::Of(seen.inputs), seen.recipe}}};
}

}  // namespace sextant::oracle
