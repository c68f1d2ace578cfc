// Texts joined at compile time, for constants with a part in common.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace sextant {

template <size_t size>
struct JoinedText {
  char text[size]{};
  constexpr operator std::string_view() const { return {text, size}; }
};

// The parts one after another, without their final zeros.
template <size_t... sizes>
constexpr auto JoinTexts(const char (&... parts)[sizes]) {
  JoinedText<(sizes + ...) - sizeof...(sizes)> joined;
  char* end = joined.text;
  ((end = std::copy_n(parts, sizes - 1, end)), ...);
  return joined;
}

}  // namespace sextant
