#include "oracle/identify/conforming_values.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "reference/case/choices.h"

namespace sextant::oracle {
namespace {

// How far the number can move in one direction (its factor is 2^-step or 2^step) before an answer
// fails: at most a factor of 2^10.
double Reach(const Claim& claim, const NumberSlot& slot, double direction,
             const std::function<bool(const Claim&)>& conforms) {
  const auto moved = [&](double step) { return slot.value * std::exp2(direction * step); };
  double good = 0, bad = 0x1p-40;
  while (bad < 10 && conforms(WithNumber(claim, slot, moved(bad)))) {
    good = bad;
    bad *= 4;
  }
  if (bad >= 10) return direction < 0 ? 0 : kInfinity;
  for (int i = 0; i < 6; ++i) {
    const double middle = (good + bad) / 2;
    (conforms(WithNumber(claim, slot, moved(middle))) ? good : bad) = middle;
  }
  return moved(good);
}

}  // namespace

std::vector<NumberRange> RangesOf(const Claim& claim, const Case& c,
                                  const std::function<bool(const Claim&)>& conforms) {
  std::vector<NumberRange> ranges;
  const std::vector<NumberSlot> slots = SlotsOf(claim, c);
  if (slots.size() > kMostFitted) return ranges;
  for (const NumberSlot& slot : slots) {
    if (slot.is_integer || slot.value == 0) continue;
    ranges.push_back({NameOf(slot, claim), slot.value, Reach(claim, slot, -1, conforms),
                      Reach(claim, slot, 1, conforms)});
  }
  return ranges;
}

std::vector<std::string> EqualWords(const Claim& claim, const Case& c,
                                    const std::function<bool(const Claim&)>& conforms) {
  std::vector<std::string> words;
  const auto choices = ChoicesOf(c.info());
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (!claim.contains(attribute.name) || attribute.dimension) continue;
    std::vector<std::string> texts(attribute.values.begin(), attribute.values.end());
    const auto at = std::ranges::find(choices, attribute.name, &Choices::key);
    if (texts.empty() && at != choices.end()) texts = at->texts;
    for (const std::string& text : texts) {
      Claim other = claim;
      if (std::exchange(other.at(attribute.name), text) == text) continue;
      if (conforms(other)) words.push_back(attribute.name + "=" + text);
    }
  }
  return words;
}

std::vector<NumberRange> RangesOf(const MeasuredTable& table) {
  std::vector<NumberRange> ranges;
  for (size_t k = 0; k < table.inv_freq.size(); ++k) {
    const auto& [value, bar] = table.inv_freq[k];
    ranges.push_back(
        {"scaling.inv_freq[" + std::to_string(k) + "]", value, value - bar, value + bar});
  }
  return ranges;
}

}  // namespace sextant::oracle
