// Patterns for case lines, on the command line and in files.
#pragma once

#include <string>

namespace sextant::tools {

// True if the pattern matches the whole text. `*` stands for any characters, also none, and `?` for
// one character; every other character stands for itself.
bool MatchesPattern(const std::string& text, const std::string& pattern);

}  // namespace sextant::tools
