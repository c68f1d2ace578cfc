// Printing and parsing of values: numbers, words, lists and enums of case lines, recipes and
// attributes.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant {

// The shortest text that parses to the same double; integers below 1e15 have no exponent: "500000",
// "0.25", "1e-05".
std::string PrintValue(double value);
std::string PrintValue(int64_t value);
std::string PrintValue(bool value);
template <class T>
std::string PrintValue(const std::optional<T>& value) {  // empty text for an unset value
  return value ? PrintValue(*value) : std::string();
}
template <class T>
std::string PrintValue(const std::vector<T>& list) {  // "[1,1.5]"
  std::string text = "[";
  for (const T& value : list) {
    if (text.size() > 1) text += ',';
    text += PrintValue(value);
  }
  text += ']';
  return text;
}

// Splits "key=text" into key and text. Throws Error if the word has another form.
std::pair<std::string, std::string> SplitWord(std::string_view word);

// Each throws Error with the expected form. Numbers are decimal or hexadecimal ("0x1p-3"), finite.
void ParseValue(std::string_view text, double& value);
void ParseValue(std::string_view text, int64_t& value);
void ParseValue(std::string_view text, bool& value);
template <class T>
void ParseValue(std::string_view text, std::optional<T>& value) {
  value.reset();
  if (!text.empty()) ParseValue(text, value.emplace());
}
// "1" and "1.5" of "[1,1.5]"; "1" of "[1]" and of "1". Throws Error.
std::vector<std::string> ItemsOf(std::string_view list);
template <class T>
void ParseValue(std::string_view text, std::vector<T>& list) {
  list.clear();
  for (const std::string& item : ItemsOf(text)) ParseValue(item, list.emplace_back());
}

// An enum can be printed and parsed if NamesOf(E) gives the names of its enumerators in order.
template <class E>
concept NamedEnum = std::is_enum_v<E> && requires(E e) {
  NamesOf(e)[0];
};

template <NamedEnum E>
std::string PrintValue(E value) {
  return std::string(NamesOf(value)[static_cast<size_t>(value)]);
}

// The names of all items, for messages: " a b c", or " none". `name` gives the name of an item.
template <class Items, class Name = std::identity>
std::string NamesText(const Items& items, const Name& name = {}) {
  std::string text;
  for (const auto& item : items) {
    text += ' ';
    text += std::invoke(name, item);
  }
  return text.empty() ? " none" : text;
}

// Index of `text` in `names`. Throws Error, with the list of names, if it is not there.
size_t IndexIn(std::span<const std::string_view> names, std::string_view text);

template <NamedEnum E>
void ParseValue(std::string_view text, E& value) {
  static constexpr auto kNames = NamesOf(E{});
  value = static_cast<E>(IndexIn(kNames, text));
}

}  // namespace sextant
