#include "oracle/attention/measured/relative.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "oracle/attention/measured/attention.h"
#include "oracle/attention/measured/relative_parts.h"
#include "oracle/attention/measured/relative_rows.h"
#include "oracle/diagnosis/attributes.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/input/input_changes.h"
#include "oracle/diagnosis/vocabulary/axis_orders.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

std::vector<Choice> KeyChoices(int64_t T) {
  const auto sees = [](const std::string& text, std::function<bool(const RelativeKey&)> of) {
    return ChangedParts(text, [of](RelativeParts& parts) { parts.sees = of; });
  };
  std::vector<Choice> choices = {
      sees("a causal mask: keys after the query's position are not seen",
           [](const RelativeKey& key) { return key.j <= key.i; }),
      sees("a causal mask of indices: key t is seen if t <= s",
           [](const RelativeKey& key) { return key.t <= key.s; }),
      sees("a query does not see the key at its own position: masked or lost",
           [](const RelativeKey& key) { return key.j != key.i; })};
  for (int64_t few = 1; few <= std::min<int64_t>(4, T - 1); ++few) {
    const std::string count = few == 1 ? "key is" : std::to_string(few) + " keys are";
    choices.push_back(sees("the last " + count + " missing",
                           [=](const RelativeKey& key) { return key.t < T - few; }));
    choices.push_back(sees("the first " + count + " missing",
                           [=](const RelativeKey& key) { return key.t >= few; }));
  }
  for (const int64_t each : {2, 4, 8, 16}) {
    if (each >= T) break;
    choices.push_back(
        sees("key " + std::to_string(each - 1) + " of each " + std::to_string(each) + " is missing",
             [=](const RelativeKey& key) { return key.t % each != each - 1; }));
    if (T % each != 0)
      choices.push_back(sees("keys from " + std::to_string(T / each * each) +
                                 " on are missing: the remainder of tiles of " +
                                 std::to_string(each),
                             [=](const RelativeKey& key) { return key.t < T / each * each; }));
  }
  return choices;
}

// Other heads of the keys or of the values.
std::vector<Choice> Heads(size_t H, bool of_keys) {
  std::vector<Choice> choices;
  for (const AxisOrder& order : OrdersOf(H, OrdersFor::kFew)) {
    std::vector<size_t> heads;
    for (size_t h = 0; h < H; ++h) heads.push_back(order.from(h));
    choices.push_back(ChangedParts(
        "the heads of the " + std::string(of_keys ? "keys" : "values") +
            " are in another order: " + order.text,
        [=](RelativeParts& parts) { (of_keys ? parts.key_heads : parts.value_heads) = heads; }));
  }
  return choices;
}

// A cap, which is not expected, and the scores of the key table with a factor of their own.
std::vector<Deviation> OfScores(const Case& c) {
  std::vector<Choice> caps, factors;
  for (const double cap : {1, 2, 3, 4, 5, 10, 15, 20, 30, 50}) {
    caps.push_back(ChangedParts("no cap is expected, scores are capped at " + PrintValue(cap),
                                [cap](RelativeParts& parts) { parts.cap = cap; }));
  }
  const double root = std::sqrt(static_cast<double>(ExtentOf(c, "D")));
  const double scale = NumberOf(c, "scale", 1 / root);
  const std::vector<NamedValue> of_table = {{1 / scale, "not multiplied by the scale"},
                                            {scale, "multiplied by the scale twice"}};
  for (const auto& [factor, text] : of_table) {
    factors.push_back(
        ChangedParts("the scores of the key table are " + text,
                     [factor](RelativeParts& parts) { parts.table_factor = factor; }));
  }
  return {OneOf("soft_cap_added", "soft_cap", caps),
          OneOf("table_scores_scaled", "table_scores", factors)};
}

}  // namespace

std::vector<Explanation> MeasureRelative(const Observation& seen) {
  const size_t H = ExtentOf(seen.c, "H");
  std::vector<Deviation> likely = OfScores(seen.c);
  likely.push_back(OneOf("keys_heads_changed", "key_heads", Heads(H, true)));
  likely.push_back(OneOf("values_heads_changed", "value_heads", Heads(H, false)));
  const auto T = static_cast<int64_t>(ExtentOf(seen.c, "T"));
  likely.push_back(OneOf("keys_changed", "keys", KeyChoices(T)));
  for (Deviation& change : DistancesOfTables(seen)) likely.push_back(std::move(change));
  std::vector<Deviation> others;
  for (Deviation& change : InputChanges(seen.c, seen.inputs))
    (change.factor.ends_with("_table") ? likely : others).push_back(std::move(change));
  likely = Joined<Deviation>({std::move(likely), AttentionDeviations(seen.c, seen.inputs)});
  const auto operation = std::make_shared<Wrapped<RelativeByParts, false>>();
  CopyAttributes(seen.c, *operation);
  const Hypothesis base{operation, SharedInputs::Of(seen.inputs), seen.recipe};
  // Pairs of all of them would be too many.
  std::vector<Explanation> found = FittedTo(seen, base, likely);
  if (!found.empty()) return found;
  return FittedTo(seen, base,
                  Joined<Deviation>({AndAttributes(likely, seen.c, seen.inputs), others}),
                  RowsOfTables(seen));
}

}  // namespace sextant::oracle
