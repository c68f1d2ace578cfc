// Pairs that do not turn beside another form of the frequencies.
#include <algorithm>

#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/rope/measured/frequencies.h"

namespace sextant::oracle {
namespace {

// Those that should turn and do not.
std::vector<size_t> StillPairs(const MeasuredFrequencies& seen) {
  std::vector<size_t> still;
  for (size_t k = 0; k < seen.of_pair.size(); ++k) {
    const bool is_still = seen.of_pair[k] && seen.of_pair[k]->Contains(0);
    if (is_still && seen.right_list.of[k] != 0 && !seen.RatioOf(k).Contains(1)) still.push_back(k);
  }
  return still;
}

RotaryModel WithStill(RotaryModel model, const std::vector<size_t>& pairs) {
  for (const size_t k : pairs) model.pairs[k].factor = 0;
  return model;
}

}  // namespace

std::vector<FrequencyForm> NameTurningPairs(const MeasuredFrequencies& seen) {
  const std::vector<size_t> still = StillPairs(seen);
  if (still.empty() || 2 * still.size() >= seen.of_pair.size()) return {};
  MeasuredFrequencies turning = seen;
  for (const size_t k : still) {
    turning.of_pair[k] = std::nullopt;
    turning.possible[k].clear();
  }
  turning.explained += still.size();
  turning.factors = [](const LongRange& range) { return std::vector{range}; };  // fits decides
  turning.fits = [&](const RotaryModel& model) { return seen.fits(WithStill(model, still)); };
  std::vector<FrequencyForm> forms = NameFrequencies(turning);
  for (FrequencyForm& form : forms) {
    form.name += "+pairs_stand_still";
    const bool is_one = still.size() == 1;
    form.sentence += (is_one ? "; pair " : "; pairs ") + IndicesText(still, seen.of_pair.size()) +
                     (is_one ? " turns" : " turn") + " at frequency 0: not rotated";
    form.model = WithStill(std::move(form.model), still);
  }
  return forms;
}

}  // namespace sextant::oracle
