#include "reference/number/rounded/rounded.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/double_double/double_double_functions.h"
#include "reference/number/recipe/recipe.h"

namespace sextant {
namespace {

// Exponentials by doubles are those in double-double, rounded once: also where results are
// subnormal, 0 or infinite.
TEST(RoundedExponentials, AreCorrectlyRounded) {
  constexpr double kEdges[] = {0, -17.33, -9.7, 11.09, 88.72, -87.34, -92.5, -103.3};
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const ScopedRecipe following(ParseRecipe("*=" + std::string(NameOf(dtype)), DType::kF32),
                                 DType::kF32);
    const ScopedStep in(Step::kSoftmax);
    Random random(5);
    for (int i = 0; i < 100000; ++i) {
      const double size = i % 3 == 0 ? 104 : i % 3 == 1 ? 1 : 0x1p-6;
      const double at = kEdges[i % std::size(kEdges)];
      const double x = RoundTo(dtype, at + random.Uniform(-size, size));
      ASSERT_EQ(Exp(Rounded(x)).value(), RoundTo(dtype, exp(DoubleDouble(x)))) << x;
    }
    EXPECT_EQ(Exp(Rounded(-INFINITY)).value(), 0);
    EXPECT_EQ(Exp(Rounded(INFINITY)).value(), INFINITY);
    EXPECT_TRUE(std::isnan(Exp(Rounded(std::nan(""))).value()));
  }
}

// In every format, by any number of vectors and beyond the range of the quick way.
TEST(RoundedExponentials, OfAllAreThoseOfEach) {
  Random random(6);
  for (const char* recipe : {"*=f32", "*=f16", "*=bf16", "*=f64", "*=exact", "*=f32 flush"}) {
    const ScopedRecipe following(ParseRecipe(recipe, DType::kF32), DType::kF32);
    const ScopedStep in(Step::kSoftmax);
    for (size_t n = 0; n < 40; ++n) {
      std::vector<Rounded> numbers;
      for (size_t i = 0; i < n; ++i)
        numbers.emplace_back(random.Uniform(-1, 1) * (i % 3 == 0   ? 1000
                                                      : i % 3 == 1 ? 20
                                                                   : 0x1p-12));
      if (n > 20) numbers[7] = Rounded(-INFINITY), numbers[20] = Rounded(std::nan(""));
      const std::vector<Rounded> all = ExpOfAll(numbers);
      ASSERT_EQ(all.size(), n);
      for (size_t i = 0; i < n; ++i) ExpectSameNumber(all[i].value(), Exp(numbers[i]).value());
    }
  }
}

}  // namespace
}  // namespace sextant
