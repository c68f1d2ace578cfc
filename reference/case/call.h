// Structured attributes: a variant of structs with kName and Visit, written "name(key=value,...)"
// or just "name". The functions below are long templates. For each such variant, declare ordinary
// functions that call them, and define these in one file (reference/rope/scaling.cc).
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reference/case/attribute.h"

namespace sextant {

struct Call {
  std::string name{};
  std::vector<std::pair<std::string, std::string>> arguments{};
};
Call ParseCall(std::string_view text);

// Prints "name(key=value,...)" without unset arguments. With `blank` it prints all arguments,
// required ones without a value.
template <class Alternative>
std::string PrintCall(const Alternative& alternative, bool blank) {
  std::string text(alternative.kName), inside;
  for (const Attribute& a : AttributesOf(alternative)) {
    if (!blank && a.text.empty()) continue;
    if (!inside.empty()) inside += ",";
    inside += a.name;
    inside += "=";
    if (!blank || !a.required) inside += a.text;
  }
  return inside.empty() ? text : text + "(" + inside + ")";
}

template <class... Alternatives>
std::string PrintValue(const std::variant<Alternatives...>& value) {
  return std::visit([](const auto& alternative) { return PrintCall(alternative, false); }, value);
}

// The call of every alternative: "none", "linear(factor=)", "llama3(factor=8,...)".
template <class... Alternatives>
std::span<const std::string> PossibleValues(const std::variant<Alternatives...>&) {
  static const std::vector<std::string> kValues = {PrintCall(Alternatives{}, true)...};
  return kValues;
}

template <class... Alternatives>
void ParseValue(std::string_view text, std::variant<Alternatives...>& value) {
  const Call call = ParseCall(text);
  static constexpr std::string_view kNames[] = {Alternatives::kName...};
  size_t index = IndexIn(kNames, call.name);
  ((index-- == 0 && (value.template emplace<Alternatives>(), true)) || ...);
  std::visit(
      [&call](auto& alternative) {
        for (const auto& [key, argument] : call.arguments) {
          SetAttribute(alternative, call.name, key, argument);
        }
        for (const Attribute& a : AttributesOf(alternative)) {
          const bool given =
              std::ranges::any_of(call.arguments, [&](const auto& b) { return b.first == a.name; });
          if (a.required && !given) throw Error(call.name, " needs ", a.name, "=");
        }
      },
      value);
}

}  // namespace sextant
