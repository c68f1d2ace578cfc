#include "tools/report/wrapped.h"

#include <algorithm>

namespace sextant::tools {
namespace {

// The columns of a text: bytes that continue a character of UTF-8 have none.
size_t ColumnsOf(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The next space from `from` on; in a command, one between arguments: not inside '...'.
size_t NextBreak(const std::string& text, size_t from, bool is_command) {
  bool quoted = false;
  for (size_t i = from; i < text.size(); ++i) {
    if (is_command && text[i] == '\'') quoted = !quoted;
    if (text[i] == ' ' && !quoted) return i;
  }
  return text.npos;
}

}  // namespace

std::string Wrapped(const std::string& line, size_t width) {
  constexpr std::string_view kContinues = " \\";
  const size_t indent = line.find_first_not_of(' ');
  if (ColumnsOf(line) <= width + line.ends_with('\n') || indent == line.npos ||
      line[indent] == '{' || line[indent] == '[')
    return line;
  const bool is_command = line.find("repeat: ") == indent;
  const size_t room = width - (is_command ? kContinues.size() : 0);
  std::string wrapped, rest = line;
  while (ColumnsOf(rest) > room + rest.ends_with('\n')) {
    const size_t begin = rest.find_first_not_of(' ');
    size_t at = NextBreak(rest, begin, is_command), next = at;
    while (next != rest.npos && ColumnsOf(rest.substr(0, next)) <= room) {
      at = next;
      next = NextBreak(rest, next + 1, is_command);
    }
    if (at == rest.npos) break;  // one long word
    wrapped += rest.substr(0, at) + (is_command ? kContinues.data() : "") + "\n";
    rest = std::string(indent + 4, ' ') + rest.substr(at + 1);
  }
  return wrapped + rest;
}

}  // namespace sextant::tools
