#include "reference/base/signal_name.h"

#include <cstring>

namespace sextant {

std::string SignalName(int number) {
  const char* name = sigabbrev_np(number);
  if (name == nullptr) return "signal " + std::to_string(number);
  return "SIG" + std::string(name) + " (" + sigdescr_np(number) + ")";
}

}  // namespace sextant
