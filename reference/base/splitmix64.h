// splitmix64: pseudorandom numbers that are the same on every machine.
// Source: Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators",
// doi:10.1145/2660193.2660195.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant {

// The finalizer of splitmix64, a hash of 64 bits.
constexpr uint64_t Mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

class SplitMix64 {
 public:
  explicit SplitMix64(uint64_t seed) : state_(seed) {}
  uint64_t Bits() { return Mix(state_ += 0x9e3779b97f4a7c15); }
  size_t Below(size_t n) { return static_cast<size_t>(Bits() % n); }
  // Uniform in [low, high), 53 bits.
  double Uniform(double low, double high) {
    return low + (high - low) * static_cast<double>(Bits() >> 11) * 0x1p-53;
  }

 private:
  uint64_t state_;
};

}  // namespace sextant
