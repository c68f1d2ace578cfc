// Attributes: parsing and printing of the members of an operation's struct.
// A struct lists its members once, in Visit: v("eps", eps), or v("pairing", pairing, kRequired) for
// a member without a default. Parsing, printing, defaults and help derive from that list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reference/base/error.h"
#include "reference/base/value_text.h"

namespace sextant {

struct Required {};
inline constexpr Required kRequired;

// A dimension that the formula needs besides the shapes of its tensors: the rotary width R of
// `rope`, or an axis that may be cut into slices (reference/prove/slices.h). The case binds it, not
// the text of an attribute.
struct Dimension {
  int64_t value = 0;
};

// The description of one member.
struct Attribute {
  std::string name{};
  std::string text{};  // printed value; meaningless for a required attribute before it is set
  bool required = false;
  bool dimension = false;
  std::span<const std::string> values{};  // the possible values, if they can be listed
};

// The possible values of a member of this type, if they can be listed. The list is created once.
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
template <NamedEnum E>
std::span<const std::string> PossibleValues(const std::optional<E>&) {
  return PossibleValues(E{});
}

// A type-erased member: code that handles members is compiled once, not for every struct. Valid
// only during the call of the visitor.
struct Member {
  const char* name;
  bool required, dimension;
  void* value;
  std::string (*print)(const void* value);
  void (*parse)(std::string_view text, void* value);
  std::span<const std::string> (*possible)(const void* value);
};

template <class T>
Member MemberAt(const char* name, T& value, bool required) {
  return {name,
          required,
          false,
          &value,
          [](const void* v) { return PrintValue(*static_cast<const T*>(v)); },
          [](std::string_view text, void* v) { ParseValue(text, *static_cast<T*>(v)); },
          [](const void* v) { return PossibleValues(*static_cast<const T*>(v)); }};
}
Member MemberAt(const char* name, Dimension& value, bool required);

// Appends the description of a member.
void Append(const Member& member, std::vector<Attribute>& all);

// The members of `object` in the order of its Visit.
template <class T>
std::vector<Attribute> AttributesOf(const T& object) {
  std::vector<Attribute> all;
  const_cast<T&>(object).Visit(
      [&all](const char* name, auto& member, auto... required) {  // the visitor only reads
        Append(MemberAt(name, member, sizeof...(required) > 0), all);
      });
  return all;
}

// Sets the member `name`, if it is one of the members that SetIfNamed receives.
class AttributeSetter {
 public:
  AttributeSetter(std::string_view owner, std::string_view name, std::string_view text)
      : owner_(owner), name_(name), text_(text) {}
  void SetIfNamed(const Member& member);
  void RequireFound() const;  // throws Error if no member had the name

 private:
  std::string_view owner_, name_, text_;
  bool found_ = false;
  std::vector<std::string_view> exist_;
};

// Sets the member `name` from text, or a Dimension from a number. `owner` is used in error
// messages.
template <class T>
void SetAttribute(T& object, std::string_view owner, std::string_view name, std::string_view text) {
  AttributeSetter setter(owner, name, text);
  object.Visit([&setter](const char* member_name, auto& member, auto... required) {
    setter.SetIfNamed(MemberAt(member_name, member, sizeof...(required) > 0));
  });
  setter.RequireFound();
}

}  // namespace sextant
