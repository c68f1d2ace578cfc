// Hashes of 64 bits.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
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

// Of much data, on this machine only: four words at a time, each in a hash of its own.
inline uint64_t HashOfData(std::string_view bytes, uint64_t start = 0) {
  constexpr size_t kLanes = 4, kWord = sizeof(uint64_t);
  uint64_t lanes[kLanes] = {start, start + 1, start + 2, start + 3};
  const auto add = [](uint64_t& lane, const char* data, size_t size) {
    uint64_t word = 0;
    std::memcpy(&word, data, size);
    lane = std::rotl(lane ^ word, 29) * 0x9e3779b97f4a7c15;
  };
  size_t done = 0;
  for (; done + kLanes * kWord <= bytes.size(); done += kLanes * kWord) {
    for (size_t k = 0; k < kLanes; ++k) add(lanes[k], bytes.data() + done + k * kWord, kWord);
  }
  for (; done < bytes.size(); done += kWord)
    add(lanes[0], bytes.data() + done, std::min(kWord, bytes.size() - done));
  uint64_t hash = bytes.size();
  for (const uint64_t lane : lanes) hash = Mix(hash + lane);
  return hash;
}

}  // namespace sextant
