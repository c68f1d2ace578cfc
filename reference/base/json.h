// JSON in and out.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace sextant {

using Json = nlohmann::ordered_json;  // keys stay in the order in which they came

// Reads a text from outside so that it means one thing everywhere: of two equal keys in an object a
// parser silently keeps one, and which one differs between languages (RFC 8259, section 4). Throws
// Error ("is not JSON in UTF-8, see byte 7") also for numbers beyond binary64, for objects of
// more than kMostKeys keys (a key is looked for among all before it), and for objects and lists
// that stand more than `most_levels` deep in one another.
inline constexpr size_t kMostKeys = 4096;
Json ParseJson(std::string_view text, int most_levels);

// Whether both say the same: the order of keys does not count.
bool SameMeaning(const Json& a, const Json& b);

// On one line, or with so many spaces for each level. What is no UTF-8 becomes U+FFFD.
std::string PrintJson(const Json& value, int indent = -1);

// The same in ASCII, cut where long: safe to print whatever it says.
std::string Excerpt(const Json& value);

}  // namespace sextant
