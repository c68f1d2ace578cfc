#include <gtest/gtest.h>

#include <cmath>

#include "reference/case/random_test.h"
#include "reference/number/double_double/double_double_functions.h"
#include "reference/number/recipe/recipe.h"
#include "reference/number/rounded/rounded.h"

namespace sextant {
namespace {

// Exponentials in f32 by the C library are those in double-double, rounded once.
TEST(RoundedExponentials, AreCorrectlyRounded) {
  const ScopedRecipe following(ParseRecipe("*=f32", DType::kF32), DType::kF32);
  Random random(5);
  for (int i = 0; i < 200000; ++i) {
    const double size = i % 3 == 0 ? 104 : i % 3 == 1 ? 1 : 0x1p-12;
    const auto x = static_cast<float>(random.Uniform(-size, size));
    ASSERT_EQ(Exp(Rounded(static_cast<double>(x))).value(),
              RoundTo(DType::kF32, exp(DoubleDouble(static_cast<double>(x)))))
        << x;
  }
  EXPECT_EQ(Exp(Rounded(-INFINITY)).value(), 0);
  EXPECT_EQ(Exp(Rounded(INFINITY)).value(), INFINITY);
  EXPECT_TRUE(std::isnan(Exp(Rounded(std::nan(""))).value()));
}

}  // namespace
}  // namespace sextant
