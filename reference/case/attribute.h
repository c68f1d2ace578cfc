// Attributes: the members of an operation's struct, as text and back.
// A struct lists its members once, in Visit: v("eps", eps) or, without a default,
// v("pairing", pairing, kRequired). Parsing, printing, defaults and help derive from that list.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reference/base/error.h"
#include "reference/base/value_text.h"

namespace sextant {

struct Required {};
inline constexpr Required kRequired;

// A dimension that no tensor of the signature shows (the rotary width R of `rope`); bound by the
// case, not by the text of an attribute.
struct Dimension {
  int64_t value = 0;
};

// A structured attribute is a variant of structs with kName and Visit, written
// "name(key=value,...)" or just "name".
struct Call {
  std::string name{};
  std::vector<std::pair<std::string, std::string>> arguments{};
};
Call ParseCall(std::string_view text);

// What Visit tells about one member.
struct Attribute {
  std::string name{};
  std::string text{};  // printed value; for a required attribute of a fresh struct meaningless
  bool required = false;
  bool dimension = false;
  std::span<const std::string> values{};  // those possible, where they can be listed
};

// The values that a member of this type can have, where they can be listed: made once.
template <class T>
std::span<const std::string> PossibleValues(const T&) {
  return {};
}
inline std::span<const std::string> PossibleValues(const bool&) {
  static const std::vector<std::string> kValues = {"false", "true"};
  return kValues;
}
template <NamedEnum E>
std::span<const std::string> PossibleValues(const E&) {
  static const auto kNames = NamesOf(E{});
  static const std::vector<std::string> kValues(kNames.begin(), kNames.end());
  return kValues;
}

// The call of every alternative: "none", "linear(factor=)", "llama3(factor=8,...)".
template <class... Alternatives>
std::span<const std::string> PossibleValues(const std::variant<Alternatives...>& value);

// The members of `object` in the order of its Visit.
template <class T>
std::vector<Attribute> AttributesOf(const T& object) {
  std::vector<Attribute> all;
  auto visitor = [&all](const char* name, auto& member, auto... required) {
    Attribute attribute{.name = name, .required = sizeof...(required) > 0};
    if constexpr (std::is_same_v<std::decay_t<decltype(member)>, Dimension>) {
      attribute.dimension = true;
    } else {
      attribute.text = PrintValue(member);
      attribute.values = PossibleValues(member);
    }
    all.push_back(std::move(attribute));
  };
  const_cast<T&>(object).Visit(visitor);  // the visitor only reads
  return all;
}

// Sets the member `name` from text, or a Dimension from its number; `owner` is for the message.
template <class T>
void SetAttribute(T& object, std::string_view owner, std::string_view name, std::string_view text) {
  bool found = false;
  std::string exist;
  auto visitor = [&](const char* member_name, auto& member, auto...) {
    if constexpr (std::is_same_v<std::decay_t<decltype(member)>, Dimension>) {
      if (name != member_name) return;
      ParseValue(text, member.value);
      found = true;
    } else if (name == member_name) {
      try {
        ParseValue(text, member);
      } catch (const Error& e) {
        throw Error(owner, ": attribute ", name, ": ", e.what());
      }
      found = true;
    } else {
      exist += " ";
      exist += member_name;
    }
  };
  object.Visit(visitor);
  if (!found)
    throw Error(owner, " has no attribute '", name, "'; it has:", exist.empty() ? " none" : exist);
}

// "name(key=value,...)" without what is unset; with `blank` all arguments, required ones without a
// value.
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

template <class... Alternatives>
std::span<const std::string> PossibleValues(const std::variant<Alternatives...>&) {
  static const std::vector<std::string> kValues = {PrintCall(Alternatives{}, true)...};
  return kValues;
}

template <class... Alternatives>
void ParseValue(std::string_view text, std::variant<Alternatives...>& value) {
  const Call call = ParseCall(text);
  const bool known =
      ((call.name == Alternatives::kName && (value.template emplace<Alternatives>(), true)) || ...);
  if (!known) {
    std::string exist;
    ((exist += " ", exist += Alternatives::kName), ...);
    throw Error("'", call.name, "' is not one of:", exist);
  }
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
