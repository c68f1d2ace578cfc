// Former names of operations: an operation with an optional input was one of its own. A case line
// that begins with a former name is an error that prints the line of today, and a pattern with one
// is an error, too: it would match nothing.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sextant {

// "attention with=bias S=3" for "attention_bias S=3", "attention with=bias" for the name alone.
// Nothing if the line begins with no former name.
std::optional<std::string> LineOfToday(std::string_view line);

// Throws Error if a pattern of case lines or of defects has a former name; `where` begins the
// message.
void RequireNamesOfToday(const std::string& where, std::string_view pattern);

}  // namespace sextant
