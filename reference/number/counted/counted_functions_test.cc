#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sextant
