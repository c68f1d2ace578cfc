// A number in a sentence, for readers: three digits.
#pragma once

#include <cstdio>
#include <string>

namespace sextant::tools {

inline std::string ShortNumber(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

}  // namespace sextant::tools
