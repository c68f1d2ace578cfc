#include "fast/rope/growing_table.h"

#include <boost/multiprecision/mpfr.hpp>

#include "fast/kernel/kernel_test.h"

namespace sextant::fast {
namespace {

using Real = boost::multiprecision::number<boost::multiprecision::mpfr_float_backend<90>>;

// Half an ulp of T, and the 2^-90 of the amplitude that the header states; for f64 there is no
// narrower margin than a double can tell, so x is compared in Real.
template <class T>
bool IsNearest(T got, const Real& x, const Real& amplitude) {
  const double value = ToDouble(got);
  const double most = MaxFinite(kDType<T>);
  if (abs(x) > Real(most) * (1 + Real(UlpOf(kDType<T>, most)) / most)) return std::isinf(value);
  if (!std::isfinite(value)) return abs(x) > most;
  const Real half = Real(UlpOf(kDType<T>, x.convert_to<double>())) / 2;
  // Rounded twice: the first time by far less than half an ulp.
  const bool subnormal = std::same_as<T, double> && std::abs(value) < 0x1p-1022;
  return abs(Real(value) - x) <= half * (subnormal ? 1.5 : 1) + amplitude * Real(0x1p-90);
}

struct Entry {
  Real cosine, sine, amplitude;
};

template <class T>
void ExpectNearest(const std::vector<double>& position, double center,
                   const std::vector<Spiral>& spirals) {
  std::vector<Entry> exact;
  for (const double p : position) {
    for (const auto& [f, g] : spirals) {
      const Real angle = (Real(f.high) + f.low) * p;
      const Real amplitude = exp((Real(g.high) + g.low) * (Real(p) - center));
      exact.push_back({cos(angle) * amplitude, sin(angle) * amplitude, amplitude});
    }
  }
  OnAllTargets([&] {
    Guarded<T> c(exact.size()), s(exact.size());
    FillGrowingTable<T>(position, center, spirals, c.data(), s.data());
    for (size_t i = 0; i < exact.size(); ++i) {
      const double p = position[i / spirals.size()];
      ASSERT_TRUE(IsNearest(c[i], exact[i].cosine, exact[i].amplitude)) << "cos at " << p;
      ASSERT_TRUE(IsNearest(s[i], exact[i].sine, exact[i].amplitude)) << "sin at " << p;
    }
  });
}

template <class T>
class FillGrowingTableTest : public testing::Test {};
using AllTypes = testing::Types<double, float, F16, BF16>;
TYPED_TEST_SUITE(FillGrowingTableTest, AllTypes);

// ln(2/7) / 512 and ln(0.9) / 64, both ways.
const std::vector<Spiral> kSpirals = {
    {1.0, -0.0024468}, {0.1, 0.0024468}, {{0.01, 1e-20}, {-0.0016462, 3e-20}}, {1e-5, 0.0}};

TYPED_TEST(FillGrowingTableTest, IsNearestAtEveryPosition) {
  ExpectNearest<TypeParam>({0, 1, 2, -3, 511, 512, 4097, -4095, 16777217, 355, 573204}, 0,
                           kSpirals);
}

TYPED_TEST(FillGrowingTableTest, CountsFromTheCenter) {
  ExpectNearest<TypeParam>({0, 64, 65, 1000}, 64, kSpirals);
  ExpectNearest<TypeParam>({0x1p53 - 1, 0x1p53}, 0x1p53, kSpirals);
}

// Where f16 and f32 end, and where f32 has but subnormal numbers.
TYPED_TEST(FillGrowingTableTest, EndsWhereTheTypeEnds) {
  ExpectNearest<TypeParam>({4000, 4532, 7000, 36000, 36263, 36400, 42000, 65536, -65536}, 0,
                           kSpirals);
}

// Consecutive positions multiply, for a while; through the ends of the type, and on.
TYPED_TEST(FillGrowingTableTest, IsNearestAlongLongRuns) {
  std::vector<double> position(290);
  for (size_t i = 0; i < position.size(); ++i) position[i] = 17050 + static_cast<double>(i);
  ExpectNearest<TypeParam>(position, 0, {kSpirals[1], {0.3, -0.0417}, {0.2, -0.031}, {0.4, 0.041}});
}

// What was 0 or infinite in a double is so no longer, some positions on.
TYPED_TEST(FillGrowingTableTest, ComesBackFromBeyondTheEnds) {
  std::vector<double> position(290);
  for (size_t i = 0; i < position.size(); ++i) position[i] = -240 + static_cast<double>(i);
  ExpectNearest<TypeParam>(position, 0, {{0.3, 3.2}, {0.2, -3.2}});
}

TYPED_TEST(FillGrowingTableTest, TakesNothing) {
  ExpectNearest<TypeParam>({}, 0, kSpirals);
  ExpectNearest<TypeParam>({7}, 0, {});
}

}  // namespace
}  // namespace sextant::fast
