// Breaks long lines for a terminal.
#pragma once

#include <string>

namespace sextant::tools {

inline constexpr size_t kTerminalWidth = 120;  // columns

// The line, with or without its newline, in lines of at most `width` columns. Broken at spaces;
// what follows is indented by 4 more. A command after "repeat: " stays one command, broken
// between arguments only. JSON stays as it is.
std::string Wrapped(const std::string& line, size_t width);

}  // namespace sextant::tools
