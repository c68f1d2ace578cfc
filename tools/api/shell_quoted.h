// Words of a shell command.
#pragma once

#include <string>

namespace sextant::tools {

std::string ShellQuoted(const std::string& word);  // as one word of a POSIX shell
// The same for people. A word that is not one printable line becomes $'a\012b', which bash and
// other shells of POSIX.1-2024 read.
std::string PrintableWord(const std::string& word);

}  // namespace sextant::tools
