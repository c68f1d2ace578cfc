// Words of a shell command.
#pragma once

#include <string>

namespace sextant::tools {

std::string ShellQuoted(const std::string& word);  // as one word of a POSIX shell

}  // namespace sextant::tools
