// FNV-1a, 64 bits: a hash of text with the same value on every machine and in every build.
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
