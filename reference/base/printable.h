// Makes third-party text safe for terminals, logs of continuous integration, JSON and XML.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace sextant {

// Every output passes through this. Replaces by '?' every byte that is not part of well-formed
// UTF-8 and every character that moves, reorders or ends text: control characters except newline
// and tab, bidirectional controls, the separators U+2028 and U+2029. No escape sequence can reach a
// terminal. A line that GitHub would take for a command ("  ::error::") begins with kMark instead,
// and "##[" and "##word", commands of GitHub, Azure or TeamCity anywhere in a line, become "?#[".
// Idempotent.
inline constexpr std::string_view kMark = "| ";
std::string Printable(std::string_view text);

// The first byte beyond ASCII that is not part of a printable character of UTF-8; npos: none.
size_t FirstIllFormed(std::string_view text);

// Text of others within a text of ours: printable, and every line after the first begins with
// kMark, so that it cannot be taken for a line of ours. Idempotent.
std::string Marked(std::string_view text);

// The first `limit` bytes of `text`, made printable, on one line, in quotes; "..." follows if text
// was cut off. For third-party text in messages.
std::string Quoted(std::string_view text, size_t limit = 64);

}  // namespace sextant
