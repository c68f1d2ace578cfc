#include "fast/rope/growing_table.h"

#include <boost/multiprecision/mpfr.hpp>

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<90>>;

// True if the error is at most half an ulp of T plus 2^-90 of the amplitude, as the header states.
// For f64 a double cannot represent this bound, so the comparison uses Real.
template <class T>
bool IsNearest(T got, const Real& x, const Real& amplitude) {
  const double value = ToDouble(got);
  const double most = MaxFinite(kDType<T>);
  if (abs(x) > Real(most) * (1 + Real(UlpOf(kDType<T>, most)) / most)) return std::isinf(value);
  if (!std::isfinite(value)) return abs(x) > most;
  const Real half = Real(UlpOf(kDType<T>, x.convert_to<double>())) / 2;
  // A subnormal f64 is rounded twice; the first rounding error is far below half an ulp.
  const bool subnormal = std::same_as<T, double> && std::abs(value) < 0x1p-1022;
  return abs(Real(value) - x) <= half * (subnormal ? 1.5 : 1) + amplitude * Real(0x1p-90);
}

struct Entry {
  Real cosine, sine, amplitude;
};

template <class T>
void ExpectNearestGrowing(const std::vector<double>& position, double center,
                          const std::vector<GrowingRotation>& rotations) {
  std::vector<Entry> exact;
  for (const double p : position) {
    for (const auto& [f, g] : rotations) {
      const Real angle = (Real(f.high) + f.low) * p;
      const Real amplitude = exp((Real(g.high) + g.low) * (Real(p) - center));
      exact.push_back({cos(angle) * amplitude, sin(angle) * amplitude, amplitude});
    }
  }
  OnAllTargets([&] {
    Guarded<T> c(exact.size()), s(exact.size());
    FillGrowingTable<T>(position, center, rotations, c.data(), s.data());
    for (size_t i = 0; i < exact.size(); ++i) {
      const double p = position[i / rotations.size()];
      ASSERT_TRUE(IsNearest(c[i], exact[i].cosine, exact[i].amplitude)) << "cos at " << p;
      ASSERT_TRUE(IsNearest(s[i], exact[i].sine, exact[i].amplitude)) << "sin at " << p;
    }
  });
}

template <class T>
class FillGrowingTableTest : public testing::Test {};
TYPED_TEST_SUITE(FillGrowingTableTest, AllTypes);

// Growth rates ln(2/7) / 512 with both signs, ln(0.9) / 64, and none.
const std::vector<GrowingRotation> kRotations = {
    {1.0, -0.0024468}, {0.1, 0.0024468}, {{0.01, 1e-20}, {-0.0016462, 3e-20}}, {1e-5, 0.0}};

TYPED_TEST(FillGrowingTableTest, IsNearestAtEveryPosition) {
  ExpectNearestGrowing<TypeParam>({0, 1, 2, -3, 511, 512, 4097, -4095, 16777217, 355, 573204}, 0,
                                  kRotations);
}

TYPED_TEST(FillGrowingTableTest, AmplitudeIsOneAtTheCenter) {
  ExpectNearestGrowing<TypeParam>({0, 64, 65, 1000}, 64, kRotations);
  ExpectNearestGrowing<TypeParam>({0x1p53 - 1, 0x1p53}, 0x1p53, kRotations);
}

// Amplitudes at the limits of f16 and f32, and in the subnormal range of f32.
TYPED_TEST(FillGrowingTableTest, IsNearestAtTheLimitsOfTheType) {
  ExpectNearestGrowing<TypeParam>({4000, 4532, 7000, 36000, 36263, 36400, 42000, 65536, -65536}, 0,
                                  kRotations);
}

// Runs of consecutive positions use products of amplitudes, also across the limits of the type.
TYPED_TEST(FillGrowingTableTest, IsNearestAlongLongRuns) {
  std::vector<double> position(290);
  for (size_t i = 0; i < position.size(); ++i) position[i] = 17050 + static_cast<double>(i);
  ExpectNearestGrowing<TypeParam>(position, 0,
                                  {kRotations[1], {0.3, -0.0417}, {0.2, -0.031}, {0.4, 0.041}});
}

// The amplitude leaves the range of double and returns to it.
TYPED_TEST(FillGrowingTableTest, IsNearestAfterAmplitudesOutsideOfDouble) {
  std::vector<double> position(290);
  for (size_t i = 0; i < position.size(); ++i) position[i] = -240 + static_cast<double>(i);
  ExpectNearestGrowing<TypeParam>(position, 0, {{0.3, 3.2}, {0.2, -3.2}});
}

TYPED_TEST(FillGrowingTableTest, AcceptsEmptyInputs) {
  ExpectNearestGrowing<TypeParam>({}, 0, kRotations);
  ExpectNearestGrowing<TypeParam>({7}, 0, {});
}

}  // namespace
}  // namespace sextant::fast
