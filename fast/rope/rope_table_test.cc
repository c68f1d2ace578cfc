#include "fast/rope/rope_table.h"

#include <boost/multiprecision/mpfr.hpp>

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<90>>;

// x rounded once to T. For f32 and 16-bit types, x is first rounded to odd in double, which does
// not change the result of the second rounding.
template <class T>
T Nearest(const Real& x) {
  if (std::same_as<T, double>) return FromDouble<T>(mpfr_get_d(x.backend().data(), MPFR_RNDN));
  double odd = mpfr_get_d(x.backend().data(), MPFR_RNDZ);
  if (odd != x && EncodeBits(DType::kF64, odd) % 2 == 0) odd = std::nextafter(odd, x < 0 ? -9 : 9);
  return FromDouble<T>(odd);
}

struct TableInputs {
  std::vector<double> position;
  std::vector<DoubleDouble> frequency;
  double amplitude = 1;
};

template <class T>
bool Same(T a, T b) {
  return ToDouble(a) == ToDouble(b);
}

// Expects that on every instruction set all entries are the nearest numbers of T.
template <class T>
void ExpectNearest(const TableInputs& q) {
  std::vector<T> cosine, sine;
  for (const double p : q.position) {
    for (const DoubleDouble& f : q.frequency) {
      const Real angle = (Real(f.high) + f.low) * p;
      cosine.push_back(Nearest<T>(cos(angle) * q.amplitude));
      sine.push_back(Nearest<T>(sin(angle) * q.amplitude));
    }
  }
  OnAllTargets([&] {
    Guarded<T> c(cosine.size()), s(sine.size());
    FillTable<T>(q.position, q.frequency, q.amplitude, c.data(), s.data());
    for (size_t i = 0; i < cosine.size(); ++i) {
      const size_t row = i / q.frequency.size(), k = i % q.frequency.size();
      ASSERT_TRUE(Same(c[i], cosine[i])) << "cos, position " << q.position[row] << ", pair " << k;
      ASSERT_TRUE(Same(s[i], sine[i])) << "sin, position " << q.position[row] << ", pair " << k;
    }
  });
}

std::vector<DoubleDouble> FrequenciesOf(double base, int64_t pairs) {
  std::vector<DoubleDouble> all;
  for (int64_t k = 0; k < pairs; ++k) all.push_back(Power(base, -k, pairs));
  return all;
}

std::vector<double> Consecutive(double first, size_t count) {
  std::vector<double> all(count);
  for (size_t i = 0; i < count; ++i) all[i] = first + static_cast<double>(i);
  return all;
}

template <class T>
class FillTableTest : public testing::Test {};
TYPED_TEST_SUITE(FillTableTest, AllTypes);

TYPED_TEST(FillTableTest, RoundsCorrectlyAtEveryWidth) {
  for (int64_t pairs = 1; pairs <= 17; ++pairs) {  // 2N + 1 of the widest vectors, N = 8
    ExpectNearest<TypeParam>({Consecutive(0, 5), FrequenciesOf(10000, pairs)});
  }
}

TYPED_TEST(FillTableTest, RoundsCorrectlyInAnyOrder) {
  ExpectNearest<TypeParam>(
      {{5, -3, 4097, 0, 0, 16777217, 1, 2, 3, 4, -2, -1, 8, 9, 131071}, FrequenciesOf(500000, 9)});
}

// Frequencies of one double, so that the angle is exact: positions next to multiples of pi/2
// (numerators of convergents), and up to 2^53.
TYPED_TEST(FillTableTest, RoundsCorrectlyAtHardPositions) {
  ExpectNearest<TypeParam>({{11, 355, 103993, 5419351, 6167950454, 0x1p40, -0x1p53, 0x1p53 - 1},
                            {1.0, 0.5, 0.1, 1e-5, 1e-30}});
}

TYPED_TEST(FillTableTest, RoundsTheProductWithTheAmplitudeOnce) {
  for (const double amplitude : {1.1902380714238083, 0.7, -3.0, 0x1p-10, 0.0}) {
    ExpectNearest<TypeParam>({Consecutive(-3, 9), FrequenciesOf(10000, 5), amplitude});
  }
}

// A double-double frequency close to pi/2 gives cosines and sines of about 2^-108 of the amplitude,
// which is less than the error of double-double arithmetic. Then large angles.
TYPED_TEST(FillTableTest, RoundsCorrectlyNextToZeros) {
  const DoubleDouble half_pi = {0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  ExpectNearest<TypeParam>({Consecutive(-9, 40), {half_pi, half_pi.high, half_pi * 0.5}, 1.25});
  ExpectNearest<TypeParam>({{0x1p40 + 1, 0x1p50, 0x1p52 + 3}, {half_pi, {0.1, 0x1p-58}}});
}

// Sines so small that an error relative to the amplitude does not decide their rounding.
TYPED_TEST(FillTableTest, RoundsCorrectlyNextToAngleZero) {
  ExpectNearest<TypeParam>({{0, 1, 3, 1023}, {1e-30, {0x1p-300, 0x1p-353}, 1e-310}});
}

TYPED_TEST(FillTableTest, RoundsCorrectlyAtExtremeAmplitudes) {
  for (const double amplitude :
       {0x1.23456789abcdep-899, -0x1.23456789abcdep-901, 0x1.23456789abcdep-1021,
        0x1.23456789abcdep-1040, 0x1p-1074, 0x1.23456789abcdep+1023}) {
    ExpectNearest<TypeParam>({Consecutive(0, 20), {0.3, 1.0}, amplitude});
  }
}

// Frequencies of 0 at the end and between others.
TYPED_TEST(FillTableTest, PairsOfFrequencyZeroAreExact) {
  for (const size_t still : {size_t{1}, size_t{3}, size_t{19}}) {
    std::vector<DoubleDouble> frequency = FrequenciesOf(10000, 9);
    frequency[4] = 0;
    frequency.resize(9 + still);
    ExpectNearest<TypeParam>({{-3, 0, 1, 4097}, frequency, 1.1});
  }
  ExpectNearest<TypeParam>({{-3, 0, 1, 4097}, std::vector<DoubleDouble>(5), 1});
}

TYPED_TEST(FillTableTest, AcceptsEmptyInputs) {
  ExpectNearest<TypeParam>({{}, {1.0}});
  ExpectNearest<TypeParam>({{7}, {}});
}

// In a long run of consecutive positions, each coarse row is a product of many rows before it.
TEST(FillTable, RoundsCorrectlyAfterLongRuns) {
  constexpr size_t kCount = 40000;
  const std::vector<DoubleDouble> frequency = {0.99993896484375, 0.3};
  const std::vector<double> position = Consecutive(1e6, kCount);
  std::vector<double> cosine(kCount * 2), sine(kCount * 2);
  FillTable<double>(position, frequency, 1.0, cosine.data(), sine.data());
  for (size_t i = kCount - 500; i < kCount; ++i) {
    const Real angle = Real(frequency[1].high) * position[i];
    ASSERT_EQ(cosine[2 * i + 1], Nearest<double>(cos(angle))) << position[i];
    ASSERT_EQ(sine[2 * i + 1], Nearest<double>(sin(angle))) << position[i];
  }
}

// The number of wrong entries in a table of the size of a real model, compared with double-double
// arithmetic.
template <class T>
size_t CountWrong(double base, size_t positions) {
  constexpr size_t kPairs = 64;
  const std::vector<DoubleDouble> frequency = FrequenciesOf(base, kPairs);
  const std::vector<double> position = Consecutive(0, positions);
  std::vector<T> cosine(positions * kPairs), sine(cosine.size());
  FillTable<T>(position, frequency, 1.0, cosine.data(), sine.data());
  size_t wrong = 0;
  for (size_t i = 0; i < cosine.size(); ++i) {
    const SineCosine exact = SinCos(frequency[i % kPairs] * position[i / kPairs]);
    wrong += !Same(cosine[i], FromDoubleDouble<T>(exact.cosine));
    wrong += !Same(sine[i], FromDoubleDouble<T>(exact.sine));
  }
  return wrong;
}

TEST(SlowFillTable, HasNoWrongEntryAtBase10000) { EXPECT_EQ(CountWrong<float>(1e4, 131072), 0u); }
TEST(SlowFillTable, HasNoWrongEntryAtBase500000) { EXPECT_EQ(CountWrong<float>(5e5, 131072), 0u); }
TEST(SlowFillTable, HasNoWrongEntryIn16Bits) {
  EXPECT_EQ(CountWrong<BF16>(5e5, 16384), 0u);
  EXPECT_EQ(CountWrong<F16>(5e5, 16384), 0u);
}

}  // namespace
}  // namespace sextant::fast
