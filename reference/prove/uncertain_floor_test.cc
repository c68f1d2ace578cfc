// Floors that the drift of a number does not decide: level 2 says so, and level 3 decides.
#include <gtest/gtest.h>

#include <vector>

#include "reference/case/operation.h"
#include "reference/number/real.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

// y = floor(sqrt(6)^2 / 6 + x), where the root is not a number of any of the types.
struct FloorNearOne {
  static constexpr std::string_view kName = "activation";
  static constexpr std::string_view kSignature = "x[N,F] -> y[N,F]";
  static constexpr std::string_view kSlices = "NF", kSteps = "", kDraw = "", kChoices = "";
  static constexpr std::string_view kFormula = "", kSource = "";
  void Visit(auto&&) {}
  template <class Real>
  void operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
    const Real root = Sqrt(Real(6.0)), one = root * root / Real(6.0);
    for (size_t i = 0; i < x.data.size(); ++i) y.data[i] = Real(Floor(one + x.data[i]));
  }
};

// The golden of FloorNearOne.
GoldenTensor Proven(const std::vector<double>& x, Engine engine) {
  const Case c =
      Case::Parse("activation kind=relu N=1 F=" + std::to_string(x.size()) + " dtype=f64");
  const Tensors inputs = {{"x", DType::kF64, Tensor<double>({1, x.size()}, x)}};
  return Prove({c, inputs, ParseRecipe("native", DType::kF64), Wrapped<FloorNearOne>()},
               {.engine = engine})[0];
}

bool IsUncertain(const DoubleDouble& center, double drift) {
  const Scoped<&EvaluationContext::uncertain> decisions(false);
  Floor(Counted::Of(center, drift, std::nullopt, false));
  return this_context.uncertain;
}

TEST(Uncertain, AnEnclosureWithAnIntegerDecidesNoFloor) {
  EXPECT_TRUE(IsUncertain(3, 0x1p-60));
  EXPECT_TRUE(IsUncertain({3, 0x1p-70}, 0x1p-69));
  EXPECT_TRUE(IsUncertain({3, -0x1p-70}, 0x1p-69));
  EXPECT_TRUE(IsUncertain(-3.5, 0.75));
  EXPECT_TRUE(IsUncertain(0, 0x1p-1000));
}

TEST(Uncertain, OtherEnclosuresDo) {
  EXPECT_FALSE(IsUncertain(3, 0));
  EXPECT_FALSE(IsUncertain(3.5, 0.25));
  EXPECT_FALSE(IsUncertain({3, 0x1p-70}, 0x1p-71));
  EXPECT_FALSE(IsUncertain({3, -0x1p-70}, 0x1p-71));
}

TEST(Uncertain, AnEarlierUncertainFloorIsNotForgotten) {
  const Scoped<&EvaluationContext::uncertain> decisions(false);
  Floor(Counted::Of(3, 0x1p-60, std::nullopt, false));
  Floor(Counted(3.5));
  EXPECT_TRUE(this_context.uncertain);
}

// 2^-115 is far below the drift of 1, and far above 2^-184.
TEST(Uncertain, Level3DecidesTheFloor) {
  for (const Engine engine : {Engine::kLadder, Engine::kMpfr}) {
    const GoldenTensor y = Proven({0x1p-115, -0x1p-115, 0.5, -0.5}, engine);
    EXPECT_EQ(y.value.data, (std::vector<double>{1, 0, 1, 0}));
    EXPECT_EQ(y.radius.data, (std::vector<double>{0, 0, 0, 0}));
  }
}

// No precision decides floor(1): that element is not guessed, and its neighbours are proven.
TEST(Uncertain, AFloorThatNothingDecidesStaysUndecided) {
  for (const Engine engine : {Engine::kLadder, Engine::kMpfr}) {
    const GoldenTensor y = Proven({0.5, 0, -0.5}, engine);
    EXPECT_EQ(y.radius.data, (std::vector<double>{0, kInfinity, 0}));
    EXPECT_EQ(y.permitted.data[1], kInfinity);
    EXPECT_EQ(y.value.data[0], 1);
    EXPECT_EQ(y.value.data[2], 0);
  }
}

}  // namespace
}  // namespace sextant
