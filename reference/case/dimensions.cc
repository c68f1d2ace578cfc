#include "reference/case/dimensions.h"

#include <algorithm>
#include <optional>

#include "reference/base/error.h"
#include "reference/case/case.h"
#include "reference/case/draw.h"
#include "reference/case/table_layout.h"

namespace sextant {
namespace {

// Dimensions that by default have the extent of another one.
constexpr std::pair<const char*, const char*> kDefaults[] = {
    {"R", "D"}, {"E", "D"}, {"T", "S"}, {kKeyHeads, "H"}};
// Dimensions that by default have the length of a list attribute: one axis of positions per
// section.
constexpr std::pair<const char*, const char*> kLengths[] = {{"A", "sections"}};

std::optional<int64_t> DefaultOf(const Operation& operation, const std::string& letter,
                                 const Dimensions& dimensions) {
  for (const auto& [own, from] : kDefaults) {
    const auto at = dimensions.find(from);
    if (letter == own && at != dimensions.end()) return at->second;
  }
  for (const auto& [own, list] : kLengths) {
    if (letter != own) continue;
    for (const Attribute& attribute : operation.Attributes()) {
      if (attribute.name == list) return static_cast<int64_t>(ItemsOf(attribute.text).size());
    }
  }
  return letter == "B" ? std::optional<int64_t>(1) : std::nullopt;
}

// The length of the list @input=spec; empty for a distribution or a file.
std::optional<size_t> CountOfList(const std::string& input, const std::string& spec) {
  try {
    return CountOfSpec(spec);
  } catch (const Error& e) {
    throw Error("@", input, "=", spec, ": ", e.what());
  }
}

}  // namespace

int64_t NumberInExtents(const std::string& value) {
  if (std::ranges::count(NamesOf(TableLayout{}), value) > 0) {
    TableLayout layout{};
    ParseValue(value, layout);
    return ColumnsPerPair(layout);
  }
  int64_t number = 0;
  ParseValue(value, number);
  return number;
}

std::set<std::string> DimensionsOf(const Operation& operation) {
  std::set<std::string> letters;
  const Signature& signature = operation.info().signature;
  for (const auto* side : {&signature.inputs, &signature.outputs}) {
    for (const TensorSpec& tensor : *side) {
      for (const std::string& extent : tensor.extents) {
        for (std::string& letter : LettersOf(extent)) letters.insert(std::move(letter));
      }
    }
  }
  for (const Attribute& attribute : operation.Attributes()) {
    if (attribute.dimension) letters.insert(attribute.name);
  }
  return letters;
}

std::map<std::string, std::string> BindLists(const Operation& operation,
                                             const std::map<std::string, std::string>& specs,
                                             Dimensions& dimensions) {
  std::map<std::string, std::string> ambiguous;
  const auto is_one = [&](const std::string& extent) {
    const auto at = dimensions.find(extent);
    return (at == dimensions.end() ? DefaultOf(operation, extent, dimensions) : at->second) == 1;
  };
  const auto bind = [&](const TensorSpec& input, size_t count) {
    const std::string &last = input.extents.back(), letter = last.substr(0, 1);
    const bool half = last == letter + "/2";
    if (LettersOf(last).empty() || dimensions.contains(letter) || (last != letter && !half)) return;
    if (std::all_of(input.extents.begin(), input.extents.end() - 1, is_one)) {
      dimensions[letter] = static_cast<int64_t>(half ? 2 * count : count);
    } else {
      ambiguous[letter] = ": the " + std::to_string(count) + " numbers of @" + input.name +
                          " may be its last axis or all of " + TextOf(input);
    }
  };
  // Tensors with one axis first: they are unambiguous, and may decide extents of the others.
  for (const bool one_axis : {true, false}) {
    for (const TensorSpec& input : operation.info().signature.inputs) {
      const auto spec = specs.find(input.name);
      if (spec == specs.end()) continue;
      const std::optional<size_t> count = CountOfList(input.name, spec->second);
      if (count && !input.extents.empty() && (input.extents.size() == 1) == one_axis)
        bind(input, *count);
    }
  }
  return ambiguous;
}

void BindDefaults(const Operation& operation, const std::set<std::string>& letters,
                  Dimensions& dimensions) {
  for (const std::string& letter : letters) {
    if (dimensions.contains(letter)) continue;
    if (const auto extent = DefaultOf(operation, letter, dimensions)) dimensions[letter] = *extent;
  }
}

std::string DefaultText(const Operation& operation, const std::string& letter) {
  for (const auto& [own, from] : kDefaults) {
    if (letter == own && Case::Has(operation, from)) return from;
  }
  for (const auto& [own, list] : kLengths) {
    if (letter == own && Case::Has(operation, list)) return "(length of " + std::string(list) + ")";
  }
  return letter == "B" ? "1" : "";
}

}  // namespace sextant
