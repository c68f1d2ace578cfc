#include "reference/rope/rotated_channels.h"

#include "reference/rope/rope_cos_sin.h"

namespace sextant {
namespace {

// The value of an attribute as text; empty if the operation does not have it.
std::string AttributeText(const Case& c, std::string_view name) {
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (attribute.name == name) return attribute.text;
  }
  return "";
}

size_t ExtentOr(const Case& c, const std::string& letter, size_t otherwise) {
  const auto at = c.dimensions().find(letter);
  return at == c.dimensions().end() ? otherwise : static_cast<size_t>(at->second);
}

}  // namespace

bool RotatesChannels(const Operation& operation) {
  return Case::Has(operation, "D") &&
         (Case::Has(operation, "R") || Case::Has(operation, "pairing"));
}

RotatedChannels::RotatedChannels(const Case& c) : width(ExtentOr(c, "D", 0)) {
  pairs = ExtentOr(c, "R", width) / 2;
  if (const std::string text = AttributeText(c, "pairing"); !text.empty())
    ParseValue(text, pairing);
  if (const std::string text = AttributeText(c, "offset"); !text.empty()) {
    int64_t value = 0;
    ParseValue(text, value);
    offset = static_cast<size_t>(value);
  }
  if (AttributeText(c, "arrangement") == "blocks") blocks = ExtentOr(c, "A", 1);
}

PairOfChannels RotatedChannels::Pair(size_t k) const {
  const size_t own = pairs / blocks, start = offset + k / own * 2 * own;
  const auto [first, second] = ChannelsOf(pairing, k % own, 2 * own);
  return {start + first, start + second};
}

std::vector<std::optional<size_t>> RotatedChannels::PairOfEachChannel() const {
  std::vector<std::optional<size_t>> of(width);
  for (size_t k = 0; k < pairs; ++k) {
    const auto [first, second] = Pair(k);
    of.at(first) = of.at(second) = k;
  }
  return of;
}

PairOfChannels ColumnsOf(const Case& c, size_t k) {
  TableLayout layout{};
  ParseValue(AttributeText(c, "layout"), layout);
  return ColumnsOf(layout, k, ExtentOr(c, "R", 0) / 2);
}

}  // namespace sextant
