#include "fast/growing_table.h"

#include <boost/multiprecision/mpfr.hpp>

#include "fast/kernel_test.h"

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
  return abs(Real(value) - x) <= half + amplitude * Real(0x1p-90);
}

template <class T>
void ExpectNearest(const std::vector<double>& position, double center,
                   const std::vector<Spiral>& spirals) {
  OnAllTargets([&] {
    Guarded<T> c(position.size() * spirals.size()), s(c.size());
    FillGrowingTable<T>(position, center, spirals, c.data(), s.data());
    for (size_t i = 0; i < c.size(); ++i) {
      const double p = position[i / spirals.size()];
      const auto& [f, g] = spirals[i % spirals.size()];
      const Real angle = (Real(f.high) + f.low) * p;
      const Real amplitude = exp((Real(g.high) + g.low) * (Real(p) - center));
      ASSERT_TRUE(IsNearest(c[i], cos(angle) * amplitude, amplitude)) << "cos at " << p;
      ASSERT_TRUE(IsNearest(s[i], sin(angle) * amplitude, amplitude)) << "sin at " << p;
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

TYPED_TEST(FillGrowingTableTest, TakesNothing) {
  ExpectNearest<TypeParam>({}, 0, kSpirals);
  ExpectNearest<TypeParam>({7}, 0, {});
}

}  // namespace
}  // namespace sextant::fast
