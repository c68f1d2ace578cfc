// Names of signals.
#pragma once

#include <string>

namespace sextant {

// "SIGSEGV (Segmentation fault)"; "signal 99" where the system has no name.
std::string SignalName(int number);

}  // namespace sextant
