// Strict parsing of JSON, its numbers as integers, and printing.
#pragma once

#include <concepts>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

// A number becomes an integer only if it is written as one and fits: the library would convert 1.5
// to 1, -1 to 2^64 - 1, and 1e40 to anything. Else it throws a Json::exception.
template <std::integral Integer>
requires(!std::same_as<Integer, bool>) struct nlohmann::adl_serializer<Integer, void> {
  template <class Json>
  static void from_json(const Json& json, Integer& value) {
    const auto set = [&](auto number) {
      if (!std::in_range<Integer>(number)) return false;
      value = static_cast<Integer>(number);
      return true;
    };
    const bool fits =
        json.is_number_unsigned()
            ? set(*json.template get_ptr<const typename Json::number_unsigned_t*>())
            : json.is_number_integer() &&
                  set(*json.template get_ptr<const typename Json::number_integer_t*>());
    if (!fits) throw detail::type_error::create(302, "expected an integer of its range", &json);
  }
  template <class Json>
  static void to_json(Json& json, Integer value) {
    nlohmann::to_json(json, value);
  }
};

namespace sextant {

using Json = nlohmann::ordered_json;  // keeps keys in the order of the text

// Parses text from outside. Throws Error ("is not JSON in UTF-8, see byte 7") for
//   - text that is not JSON in UTF-8;
//   - a key that occurs twice in one object: a parser silently keeps one of two equal keys, and the
//     choice differs between languages (RFC 8259, section 4);
//   - numbers outside the range of binary64;
//   - objects with more than kMostKeys keys (each key is compared with all keys before it);
//   - objects and lists nested more than `max_levels` deep.
inline constexpr size_t kMostKeys = 4096;
Json ParseJson(std::string_view text, int max_levels);

// Equality that ignores the order of keys.
bool SameMeaning(const Json& a, const Json& b);

// On one line, or on several lines with `indent` spaces per level. Texts and keys are made
// Printable.
std::string PrintJson(const Json& value, int indent = -1);

// One line of ASCII, cut off after 60 characters ("..." follows): safe to print for any value.
std::string Excerpt(const Json& value);

}  // namespace sextant
