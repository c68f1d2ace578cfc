#include "tools/api/pattern.h"

#include <fnmatch.h>

namespace sextant::tools {

bool MatchesPattern(const std::string& text, const std::string& pattern) {
  std::string escaped;  // [ and \ have a meaning for fnmatch; case lines contain lists
  for (const char c : pattern) {
    if (c == '[' || c == '\\') escaped += '\\';
    escaped += c;
  }
  return fnmatch(escaped.c_str(), text.c_str(), 0) == 0;
}

}  // namespace sextant::tools
