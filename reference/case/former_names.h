// Former names of operations: an operation with an optional input was one of its own. A case line
// that begins with a former name is an error that prints the line of today.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sextant {

// "attention with=bias S=3" for "attention_bias S=3", "attention with=bias" for the name alone.
// Nothing if the line begins with no former name.
std::optional<std::string> LineOfToday(std::string_view line);

}  // namespace sextant
