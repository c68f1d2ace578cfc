// Text from strangers, made fit for terminals, JSON and XML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sextant {

// `text` with every byte that is not part of well-formed UTF-8, and every control character except
// newline and tab, replaced by '?'. So no escape sequence reaches a terminal.
std::string Printable(std::string_view text);

// The same on one line, at most `limit` bytes of it, in quotes: for naming what a stranger sent.
std::string Quoted(std::string_view text, size_t limit = 64);

}  // namespace sextant
