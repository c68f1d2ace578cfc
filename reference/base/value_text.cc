#include "reference/base/value_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "reference/base/error.h"

namespace sextant {
namespace {

template <class T>
std::string Shortest(T value) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

}  // namespace

std::string PrintValue(double value) {
  // 500000, not 5e+05: easier to read for people.
  const bool integer = value == std::trunc(value) && std::abs(value) < 1e15;
  if (integer && !(value == 0 && std::signbit(value))) return Shortest(static_cast<int64_t>(value));
  return Shortest(value);
}
std::string PrintValue(int64_t value) { return Shortest(value); }
std::string PrintValue(bool value) { return value ? "true" : "false"; }

void ParseValue(std::string_view text, double& value) {
  const bool negative = text.starts_with('-');
  std::string_view digits = negative ? text.substr(1) : text;
  auto format = std::chars_format::general;
  if (digits.starts_with("0x")) {
    digits.remove_prefix(2);
    format = std::chars_format::hex;
  }
  double parsed = 0;
  const auto [end, code] = std::from_chars(digits.begin(), digits.end(), parsed, format);
  if (code != std::errc() || end != digits.end() || digits.starts_with('-') ||
      !std::isfinite(parsed)) {
    throw Error("'", text, "' is not a finite number");
  }
  value = negative ? -parsed : parsed;
}

void ParseValue(std::string_view text, int64_t& value) {
  int64_t parsed = 0;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), parsed);
  if (code == std::errc::result_out_of_range && end == text.end())
    throw Error("'", text, "' is too large: expected an integer below 2^63 in magnitude");
  if (code != std::errc() || end != text.end()) throw Error("'", text, "' is not an integer");
  value = parsed;
}

void ParseValue(std::string_view text, bool& value) {
  if (text != "true" && text != "false") throw Error("'", text, "' is not one of: true false");
  value = text == "true";
}

std::vector<std::string> ItemsOf(std::string_view list) {
  const bool is_one = !list.empty() && list.find_first_of("[],") == list.npos;
  if (is_one) return {std::string(list)};
  if (list.size() < 2 || !list.starts_with('[') || !list.ends_with(']')) {
    std::string items(list);
    std::erase_if(items, [](char c) { return c == '[' || c == ']'; });
    throw Error("'", list, "' is not a list, expected [", items, "]");
  }
  std::vector<std::string> items;
  std::string_view rest = list.substr(1, list.size() - 2);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    items.emplace_back(rest.substr(0, comma));
    if (comma + 1 == rest.size()) throw Error("'", list, "' ends with a comma");
    rest.remove_prefix(comma == rest.npos ? rest.size() : comma + 1);
  }
  return items;
}

size_t IndexIn(std::span<const std::string_view> names, std::string_view text) {
  const auto at = std::ranges::find(names, text);
  if (at != names.end()) return static_cast<size_t>(at - names.begin());
  throw Error("'", text, "' is not one of:", NamesText(names));
}

std::pair<std::string, std::string> SplitWord(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == word.npos || equals == 0) throw Error("'", word, "' is not key=value");
  return {std::string(word.substr(0, equals)), std::string(word.substr(equals + 1))};
}

}  // namespace sextant
