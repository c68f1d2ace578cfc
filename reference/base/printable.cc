#include "reference/base/printable.h"

#include <algorithm>
#include <cstdint>

namespace sextant {
namespace {

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Length of the well-formed character at the start of `text`, or 0 if it does not start with one.
// The bounds come from the Unicode Standard 15.0, table 3-7; C1 controls (U+0080..9F) count as
// ill-formed.
size_t CharacterLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead < 0x20 || lead == 0x7F ? 0 : 1;
  const size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                        : lead >= 0xE0 && lead <= 0xEF ? 3
                        : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                       : 0;
  if (length == 0 || text.size() < length) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  if (lead == 0xC2 && second < 0xA0) return 0;  // C1 controls
  if (lead == 0xE0 && second < 0xA0) return 0;  // overlong
  if (lead == 0xED && second > 0x9F) return 0;  // surrogates
  if (lead == 0xF0 && second < 0x90) return 0;  // overlong
  if (lead == 0xF4 && second > 0x8F) return 0;  // beyond U+10FFFF
  if (lead == 0xEF && second == 0xBF && length == 3 &&
      static_cast<unsigned char>(text[2]) >= 0xBE) {
    return 0;  // U+FFFE and U+FFFF, which XML forbids
  }
  return std::all_of(text.begin() + 1, text.begin() + static_cast<ptrdiff_t>(length),
                     [](char byte) { return IsContinuation(static_cast<unsigned char>(byte)); })
             ? length
             : 0;
}

}  // namespace

std::string Printable(std::string_view text) {
  std::string printable;
  printable.reserve(text.size());
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length > 0) {
      printable += text.substr(0, length);
    } else {
      printable += text[0] == '\n' || text[0] == '\t' ? text[0] : '?';
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return printable;
}

std::string Quoted(std::string_view text, size_t limit) {
  std::string line = Printable(text.substr(0, limit));
  std::replace(line.begin(), line.end(), '\n', ' ');
  return "'" + line + "'" + (text.size() > limit ? "..." : "");
}

}  // namespace sextant
