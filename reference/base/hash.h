// Hashes of 64 bits.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "reference/base/splitmix64.h"

namespace sextant {

// FNV-1a: the same value on every machine and in every build.
constexpr uint64_t HashOf(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

// Of much data, eight bytes at a time, on this machine only.
inline uint64_t HashOfData(std::string_view bytes, uint64_t start = 0) {
  uint64_t hash = Mix(start + bytes.size());
  for (; !bytes.empty(); bytes.remove_prefix(bytes.size() < 8 ? bytes.size() : 8)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), bytes.size() < 8 ? bytes.size() : 8);
    hash = Mix(hash ^ word) + word;
  }
  return hash;
}

}  // namespace sextant
