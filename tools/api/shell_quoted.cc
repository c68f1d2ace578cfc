#include "tools/api/shell_quoted.h"

namespace sextant::tools {

std::string ShellQuoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  text += "'";
  return text;
}

}  // namespace sextant::tools
