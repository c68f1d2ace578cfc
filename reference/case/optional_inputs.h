// The attribute `with`: which optional inputs a case has. An operation whose signature has optional
// inputs (`bias?[B,H,S,T]`) has it as a member; the line of a case without them has no such word.
//   attention with=bias,sink ...
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "reference/base/error.h"
#include "reference/base/value_text.h"

namespace sextant {

inline constexpr const char* kWith = "with";  // the name of the attribute

struct OptionalInputs {
  std::vector<std::string> names{};
  bool Has(std::string_view name) const { return std::ranges::count(names, name) > 0; }
};

inline std::string PrintValue(const OptionalInputs& inputs) {  // "bias,sink"
  std::string text;
  for (const std::string& name : inputs.names) text += (text.empty() ? "" : ",") + name;
  return text;
}

// Takes any names: the case knows those of the signature, and puts them into its order.
inline void ParseValue(std::string_view text, OptionalInputs& inputs) {
  inputs.names.clear();
  if (!text.empty()) inputs.names = ItemsOf("[" + std::string(text) + "]");
  if (inputs.Has("")) throw Error("'", text, "' has an empty name, expected names and commas");
}

}  // namespace sextant
