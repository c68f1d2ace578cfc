// A hash of text that is the same on every machine, in every build: FNV-1a, 64 bits.
#pragma once

#include <cstdint>
#include <string_view>

namespace sextant {

constexpr uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace sextant
