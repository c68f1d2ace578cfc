#include "fast/simd/element.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/simd/element_test.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/simd/any_element.h"
#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T>
void NarrowAll(const float* from, T* to, size_t n) {
  ForEachVector(hn::ScalableTag<float>(), n,
                [&](auto d, size_t k) HWY_ATTR { Write(d, Read(d, from + k), to + k); });
}
template <class T>
void NarrowAllInTwos(const float* from, T* to, size_t n) {
  WriteEach(hn::ScalableTag<float>(), n, to,
            [&](auto d, size_t k) HWY_ATTR { return Read(d, from + k); });
}
template <class T>
void NarrowAllInPairs(const float* from, T* to, size_t n) {
  ForEachVector(hn::ScalableTag<float>(), n / 2, [&](auto d, size_t k) HWY_ATTR {
    auto a = hn::Zero(d), b = hn::Zero(d);
    ReadPairs(d, from + 2 * k, a, b);
    WritePairs(d, a, b, to + 2 * k);
  });
}
template <class T>
void WidenAll(const T* from, float* to, size_t n) {
  ForEachVector(hn::ScalableTag<float>(), n,
                [&](auto d, size_t k) HWY_ATTR { Write(d, Read(d, from + k), to + k); });
}

void NarrowElements(DType dtype, const float* from, UntypedOutput to, size_t n) {
  WithNarrow(dtype, [=]<class T>() HWY_ATTR { NarrowAll<T>(from, to, n); });
}
void NarrowElementsInPairs(DType dtype, const float* from, UntypedOutput to, size_t n) {
  WithNarrow(dtype, [=]<class T>() HWY_ATTR { NarrowAllInPairs<T>(from, to, n); });
}
void NarrowElementsInTwos(DType dtype, const float* from, UntypedOutput to, size_t n) {
  WithNarrow(dtype, [=]<class T>() HWY_ATTR { NarrowAllInTwos<T>(from, to, n); });
}
void WidenElements(DType dtype, UntypedInput from, float* to, size_t n) {
  WithNarrow(dtype, [=]<class T>() HWY_ATTR { WidenAll<T>(from, to, n); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <bit>

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
HWY_EXPORT(NarrowElements);
HWY_EXPORT(NarrowElementsInPairs);
HWY_EXPORT(NarrowElementsInTwos);
HWY_EXPORT(WidenElements);

namespace {

template <class T>
std::vector<T> AllPatterns() {
  std::vector<T> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i) all[i] = {static_cast<uint16_t>(i)};
  return all;
}

// All numbers at which rounding to T changes: every value of T, every midpoint between neighbours,
// and the floats next to both. Then infinities and NaN.
template <class T>
std::vector<float> RoundingBoundaries() {
  std::vector<float> all;
  const int steps = std::same_as<T, BF16> ? 0x7f80 : 0x7c00;
  for (int i = 0; i < steps; ++i) {
    const double x = DecodeBits(kDType<T>, i), next = NextUp(kDType<T>, x);
    const double middle = std::isinf(next) ? x + (x - NextDown(kDType<T>, x)) / 2 : (x + next) / 2;
    for (const double number : {x, middle}) {
      const auto f = static_cast<float>(number);
      for (const float near : {std::nextafter(f, -INFINITY), f, std::nextafter(f, INFINITY)}) {
        all.push_back(near);
        all.push_back(-near);
      }
    }
  }
  for (const float special : {INFINITY, -INFINITY, NAN, -NAN, 3e38f}) all.push_back(special);
  all.push_back(std::bit_cast<float>(0x7f800001u));  // a NaN whose payload bf16 cannot hold
  while (all.size() % 64 != 0) all.push_back(0);     // they are in whole vectors
  return all;
}

// The bits to which every number must round; NaN may be any NaN.
template <class T>
std::vector<uint64_t> Nearest(const std::vector<float>& numbers) {
  std::vector<uint64_t> all;
  for (const float number : numbers)
    all.push_back(EncodeBits(kDType<T>, RoundTo(kDType<T>, number)));
  return all;
}

template <class T>
void ExpectNearest() {
  const std::vector<float> numbers = RoundingBoundaries<T>();
  const std::vector<uint64_t> nearest = Nearest<T>(numbers);
  OnAllTargets([&] {
    for (const char* how : {"one by one", "in pairs", "in twos"}) {
      SCOPED_TRACE(how);
      const size_t n = numbers.size();
      std::vector<T> to(n);
      const auto narrow = how == std::string("one by one") ? HWY_DYNAMIC_DISPATCH(NarrowElements)
                          : how == std::string("in pairs")
                              ? HWY_DYNAMIC_DISPATCH(NarrowElementsInPairs)
                              : HWY_DYNAMIC_DISPATCH(NarrowElementsInTwos);
      narrow(kDType<T>, numbers.data(), to.data(), n);
      size_t wrong = 0;
      for (size_t i = 0; i < numbers.size(); ++i) {
        if (std::isnan(numbers[i]))
          wrong += !std::isnan(ToDouble(to[i]));
        else
          wrong += to[i].bits != nearest[i];
      }
      EXPECT_EQ(wrong, 0u);
    }
  });
}

TEST(Element, SixteenBitStoresRoundToNearestEven) {
  ExpectNearest<F16>();
  ExpectNearest<BF16>();
}

TEST(Element, SixteenBitLoadsAreExact) {
  const auto check = []<class T>() {
    const std::vector<T> all = AllPatterns<T>();
    std::vector<float> to(all.size());
    HWY_DYNAMIC_DISPATCH(WidenElements)(kDType<T>, all.data(), to.data(), all.size());
    size_t wrong = 0;
    for (size_t i = 0; i < all.size(); ++i) {
      const double exact = ToDouble(all[i]);
      wrong += !(to[i] == exact || (std::isnan(exact) && std::isnan(to[i])));
      wrong += !std::isnan(exact) && std::signbit(exact) != std::signbit(to[i]);
    }
    EXPECT_EQ(wrong, 0u);
  };
  OnAllTargets([&] {
    check.template operator()<F16>();
    check.template operator()<BF16>();
  });
}

// 1 + 2^-24 is halfway between two floats, so the low part decides.
TEST(Element, DoubleDoubleRoundsOnce) {
  EXPECT_EQ(FromDoubleDouble<float>({1 + 0x1p-24, 0x1p-80}), 1 + 0x1p-23f);
  EXPECT_EQ(FromDoubleDouble<float>({1 + 0x1p-24, -0x1p-80}), 1.0f);
  EXPECT_EQ(FromDoubleDouble<float>({1 + 0x1p-24, 0}), 1.0f);
  EXPECT_EQ(FromDoubleDouble<float>({-1 - 0x1p-24, -0x1p-80}), -1 - 0x1p-23f);
  EXPECT_EQ(ToDouble(FromDoubleDouble<BF16>({1 + 0x1p-8, 0x1p-80})), 1 + 0x1p-7);
  EXPECT_EQ(FromDoubleDouble<double>({1, 0x1p-60}), 1.0);
}

}  // namespace
}  // namespace sextant::fast
#endif
