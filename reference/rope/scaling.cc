#include "reference/rope/scaling.h"

#include <algorithm>

#include "reference/case/call.h"
#include "reference/number/real.h"

namespace sextant {

std::string PrintValue(const RopeScaling& scaling) { return PrintValue<>(scaling); }
void ParseValue(std::string_view text, RopeScaling& scaling) { ParseValue<>(text, scaling); }
std::span<const std::string> PossibleValues(const RopeScaling& scaling) {
  return PossibleValues<>(scaling);
}

std::vector<RopeScaling> AlternativesOf(const RopeScaling& scaling, const RotarySetting& setting) {
  std::vector<RopeScaling> all;
  if (const auto* yarn = std::get_if<YarnScaling>(&scaling)) {
    for (const YarnScaling& other : yarn->Alternatives(setting)) all.emplace_back(other);
  }
  return all;
}

void CheckScaling(const RopeScaling& scaling, const RotarySetting& setting) {
  if (!(setting.base > 0)) throw Error("base is ", setting.base, ", expected more than 0");
  if (setting.seq_len && (*setting.seq_len < 0 || *setting.seq_len > kLargestInteger)) {
    throw Error("seq_len is ", *setting.seq_len, ", expected 0 to 2^53");
  }
  std::visit([&](const auto& s) { s.Check(setting); }, scaling);
}

}  // namespace sextant
