// The program that runs a subject in a shared library (tools/host/host.h).
#pragma once

#include <string>

namespace sextant::tools {

inline constexpr char kHostProgram[] = "sextant-host";
inline constexpr char kHostCommand[] = "host";  // of `sextant`, which replaces the program

// The shell command that hosts the library: the program $SEXTANT_HOST; else the program
// `sextant-host` beside the file that contains this function (`sextant` or libsextant.so); else
// `sextant host`. Throws Error if there is no host.
std::string HostCommandOf(const std::string& library);

}  // namespace sextant::tools
