// Strict parsing of JSON, and printing.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

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
