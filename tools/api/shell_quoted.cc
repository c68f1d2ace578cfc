#include "tools/api/shell_quoted.h"

#include <cctype>
#include <cstdio>

#include "reference/base/printable.h"

namespace sextant::tools {

std::string ShellQuoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  text += "'";
  return text;
}

std::string PrintableWord(const std::string& word) {
  if (Marked(word) == word) return ShellQuoted(word);
  std::string text = "$'";
  for (const char c : word) {
    if (c == ' ' ||
        std::string_view("_-./,:=@%+*?[](){}<>|&;\"$!~^`").find(c) != std::string_view::npos ||
        std::isalnum(static_cast<unsigned char>(c))) {
      text += c;
      continue;
    }
    char code[8];
    std::snprintf(code, sizeof code, "\\%03o", static_cast<unsigned char>(c));
    text += code;
  }
  return text + "'";
}

}  // namespace sextant::tools
