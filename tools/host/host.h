// The host: a process that runs a subject in a shared library, so that a crash of the library ends
// this process and no other.
#pragma once

#include <string>

namespace sextant::tools {

// Answers the questions of oracle/subject/PROTOCOL.md on standard input with the library, until the
// input ends. Whatever the library prints goes to standard error. Returns the exit status. Throws
// Error if the input is not a conversation.
int RunHost(const std::string& library);

}  // namespace sextant::tools
