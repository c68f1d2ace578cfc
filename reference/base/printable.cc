#include "reference/base/printable.h"

#include <algorithm>
#include <cctype>

namespace sextant {
namespace {

// U+061C, U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069.
bool IsLayoutControl(std::string_view character) {
  return character == "\u061C" || character == "\u200E" || character == "\u200F" ||
         (character >= "\u2028" && character <= "\u202E") ||
         (character >= "\u2066" && character <= "\u2069");
}

bool IsContinuation(char byte) { return (byte & 0xC0) == 0x80; }

// Length of the well-formed character at the start of `text`, or 0 if it does not start with one.
// The bounds come from the Unicode Standard 15.0, table 3-7; C1 controls (U+0080..9F) and
// characters of IsLayoutControl count as ill-formed.
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
  const std::string_view character = text.substr(0, length);
  return std::ranges::all_of(character.substr(1), IsContinuation) && !IsLayoutControl(character)
             ? length
             : 0;
}

bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// Whether a runner of GitHub takes the line for a command: it ignores white space before "::", also
// that of Unicode, and characters without a width.
// Source: github.com/actions/runner, src/Runner.Common/ActionCommand.cs, TryParseV2.
bool IsCommand(std::string_view line) {
  size_t colons = 0;
  for (const char c : line) {
    if (c == ' ' || c == '\t' || !IsAscii(c)) continue;
    if (c != ':') return false;
    if (++colons == 2) return true;
  }
  return false;
}

// Replaces the first '#' of "##[" and "##word". Characters between them may be invisible.
void BreakHashes(std::string& text) {
  const auto next = [&text](size_t at) {
    while (++at < text.size() && !IsAscii(text[at])) {
    }
    return at < text.size() ? at : text.size();
  };
  for (size_t i = text.find('#'); i != text.npos; i = text.find('#', i + 1)) {
    const size_t second = next(i);
    if (second == text.size() || text[second] != '#') continue;
    const size_t third = next(second);
    if (third < text.size() && (text[third] == '[' || std::isalpha(text[third]))) text[i] = '?';
  }
}

// Without marks.
std::string Cleaned(std::string_view text) {
  std::string cleaned;
  cleaned.reserve(text.size());
  while (!text.empty()) {
    const size_t length = CharacterLength(text);
    if (length > 0) {
      cleaned += text.substr(0, length);
    } else {
      cleaned += text[0] == '\n' || text[0] == '\t' ? text[0] : '?';
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  BreakHashes(cleaned);
  return cleaned;
}

// kMark before each line for which it is needed; the first line has number 0.
std::string WithMarks(std::string_view text, auto needs_mark) {
  std::string marked;
  for (size_t number = 0, begin = 0; begin <= text.size(); ++number) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    if (number > 0) marked += '\n';
    if (needs_mark(number, line)) marked += kMark;
    marked += line;
    begin = end + 1;
  }
  return marked;
}

}  // namespace

size_t FirstIllFormed(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const size_t length = CharacterLength(text.substr(at));
    if (length == 0 && !IsAscii(text[at])) return at;
    at += std::max<size_t>(length, 1);
  }
  return text.npos;
}

std::string Printable(std::string_view text) {
  return WithMarks(Cleaned(text), [](size_t, std::string_view line) { return IsCommand(line); });
}

std::string Marked(std::string_view text) {
  return WithMarks(Printable(text), [](size_t number, std::string_view line) {
    return number > 0 && !line.empty() && !line.starts_with(kMark);
  });
}

std::string Quoted(std::string_view text, size_t limit) {
  std::string line = Cleaned(text.substr(0, limit));
  std::ranges::replace(line, '\n', ' ');
  return "'" + line + "'" + (text.size() > limit ? "..." : "");
}

}  // namespace sextant
