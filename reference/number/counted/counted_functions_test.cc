#include <gtest/gtest.h>

#include <cmath>

#include "reference/number/counted/counted.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

// The square of such a root underflows, so it does not show that the root is exact.
TEST(CountedFunctions, RootsOfTinyNumbersAreNotExact) {
  const Recipe exact = ParseRecipe("exact", DType::kF64);
  const ScopedRecipe following(exact, DType::kF64);
  const ScopedStep at(Step::kRsqrt);
  const auto drift = [](double x) { return Sqrt(Counted(x, DType::kF64)).drift(); };
  for (const double x : {0x3p-1074, 1e-310, 1e-308}) EXPECT_GT(drift(x), 0) << x;
  EXPECT_EQ(drift(0x1p-800), 0);
  EXPECT_EQ(drift(0), 0);
}

// Documented: 2^-21.19 and 2^-21.41 in [-pi, pi]. An error of the angle comes to that.
TEST(CountedFunctions, IntrinsicsOfCudaHaveAbsoluteErrorsUpToPi) {
  const Recipe recipe = ParseRecipe("*=f32 trig=f32:cuda_intrinsic", DType::kF32);
  const ScopedRecipe following(recipe, DType::kF32);
  const ScopedStep at(Step::kTrig);
  for (const double angle : {-3.125, 0x1p-20, 1.5, 3.125}) {
    const auto [cosine, sine] = CosSin(Counted(angle, DType::kF32));
    EXPECT_NEAR(cosine.Permitted(), std::exp2(-21.19), 0x1p-30) << angle;
    EXPECT_GE(cosine.Permitted(), std::exp2(-21.19)) << angle;
    EXPECT_NEAR(sine.Permitted(), std::exp2(-21.41), 0x1p-30) << angle;
    EXPECT_GE(sine.Permitted(), std::exp2(-21.41)) << angle;
  }
  const Counted near = Counted(1.5, DType::kF32).WithError({0x1p-10, 0x1p-10});
  EXPECT_GT(CosSin(near).first.Permitted(), 0x1p-11);
  for (const Counted& beyond : {Counted(3.25, DType::kF32), Counted(-3.25, DType::kF32),
                                Counted(3.125, DType::kF32).WithError({0x1p-5, 0x1p-5})}) {
    EXPECT_EQ(CosSin(beyond).first.Permitted(), kInfinity);
    EXPECT_EQ(CosSin(beyond).second.Permitted(), kInfinity);
  }
}

}  // namespace
}  // namespace sextant
