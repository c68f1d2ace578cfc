// Makes third-party text safe for terminals, JSON and XML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sextant {

// Replaces by '?' every byte that is not part of well-formed UTF-8, and every control character
// except newline and tab. No escape sequence can reach a terminal.
std::string Printable(std::string_view text);

// The first `limit` bytes of `text`, made printable, on one line, in quotes; "..." follows if text
// was cut off. For third-party text in messages.
std::string Quoted(std::string_view text, size_t limit = 64);

}  // namespace sextant
