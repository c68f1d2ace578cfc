// Names of signals.
#pragma once

#include <string>

namespace sextant {

// "SIGSEGV (Segmentation fault)", or "signal 99" if the system has no name for the number.
std::string SignalName(int number);

}  // namespace sextant
