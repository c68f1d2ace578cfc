// Counts with their nouns: "1 case", "2 cases".
#pragma once

#include <cstddef>
#include <string>

namespace sextant {

// `noun` is a singular whose plural ends in "s".
inline std::string CountText(size_t count, const std::string& noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace sextant
