// Helpers for tests of kernels: all instruction sets, guarded memory, random numbers.
#pragma once

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cstring>
#include <vector>

#include "fast/simd/element.h"
#include "fast/simd/processor.h"
#include "reference/base/splitmix64.h"

namespace sextant::fast {

using AllTypes = testing::Types<double, float, F16, BF16>;
using StreamedTypes = testing::Types<float, BF16>;

// Calls body once per instruction set that is both compiled in and supported by this processor.
// Then calls it once as in normal use: with the best one and its optional features (processor.h).
template <class Body>
void OnAllTargets(const Body& body) {
  AllowBF16InstructionForTest(false);
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    body();
  }
  hwy::SetSupportedTargetsForTest(0);
  AllowBF16InstructionForTest(true);
  body();
}

// Elements between two guard areas. The destructor checks that nothing wrote to the guards.
template <class T>
class Guarded {
 public:
  explicit Guarded(size_t count) : bytes_((count + 2 * kGuard) * sizeof(T), kMark) {}
  Guarded(const Guarded&) = default;
  ~Guarded() {
    for (size_t i = 0; i < kGuard * sizeof(T); ++i) {
      EXPECT_EQ(bytes_[i], kMark) << "written " << kGuard * sizeof(T) - i
                                  << " bytes before the start";
      EXPECT_EQ(bytes_[bytes_.size() - 1 - i], kMark) << "written after the end";
    }
  }
  T* data() { return reinterpret_cast<T*>(bytes_.data()) + kGuard; }
  const T* data() const { return reinterpret_cast<const T*>(bytes_.data()) + kGuard; }
  size_t size() const { return bytes_.size() / sizeof(T) - 2 * kGuard; }
  T& operator[](size_t i) { return data()[i]; }
  const T& operator[](size_t i) const { return data()[i]; }
  bool SameBits(const Guarded& other) const { return bytes_ == other.bytes_; }

 private:
  static constexpr size_t kGuard = 67;  // more than a vector, and odd: data() is not aligned
  static constexpr unsigned char kMark = 0xff;  // NaN in every type, so that reads are noticed
  std::vector<unsigned char> bytes_;
};

class Random : public SplitMix64 {
 public:
  explicit Random(uint64_t seed = 1) : SplitMix64(seed) {}
  // Uniform in [low, high), rounded to T.
  template <class T>
  Guarded<T> Fill(size_t count, double low = -2, double high = 2) {
    Guarded<T> all(count);
    for (size_t i = 0; i < count; ++i) all[i] = FromDouble<T>(Uniform(low, high));
    return all;
  }
};

// Calls the kernel work(x, y), and again with y = x, which must give the same bits. Returns y.
template <class T, class Work>
Guarded<T> InPlaceToo(const Guarded<T>& x, const Work& work) {
  Guarded<T> y(x.size()), in_place = x;
  work(x.data(), y.data());
  work(in_place.data(), in_place.data());
  EXPECT_TRUE(in_place.SameBits(y));
  return y;
}

// Unit roundoff of Computed<T>.
template <class T>
constexpr double kUnit = std::same_as<Computed<T>, float> ? 0x1p-24 : 0x1p-53;

}  // namespace sextant::fast
