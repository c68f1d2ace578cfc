#include "reference/layer/cast.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "reference/base/error_test.h"
#include "reference/number/exact/interval.h"
#include "reference/prove/proof_test.h"
#include "reference/prove/second_opinion.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;

using Numbers = std::vector<double>;

// The conversion of numbers of f64, with these words: "overflow=nan dtype.y=f8_e4m3fn".
Proof Conversion(const std::string& words, const Numbers& x) {
  const Case c = Case::Parse("cast N=1 M=" + std::to_string(x.size()) + " dtype=f64 " + words);
  Tensors inputs = {{"x", DType::kF64, Tensor<double>({1, x.size()}, x)}};
  auto golden = Prove({c, inputs, ParseRecipe("native", c.dtype())});
  return {c, std::move(inputs), std::move(golden)};
}
Numbers CastOf(const std::string& words, const Numbers& x) {
  return Conversion(words, x).golden[0].value.data;
}
std::string CastError(const std::string& line) {
  return MessageOf([&] { Case::Parse(line); });
}

// e4m3fn has 3 bits after the hidden one: 16, 18, 20 ... 32, 36 ...
TEST(Cast, RoundsTiesToEven) {
  EXPECT_THAT(CastOf("overflow=saturate dtype.y=f8_e4m3fn", {17, 19, 17.125, 34, -17}),
              ElementsAre(16, 20, 18, 32, -16));
}

// The smallest normal number of e5m2 is 2^-14, its subnormal ones are 1, 2 and 3 times 2^-16.
TEST(Cast, KeepsSubnormalNumbers) {
  EXPECT_THAT(CastOf("overflow=saturate dtype.y=f8_e5m2",
                     {0x1p-16, 0x1.8p-16, 0x1p-17, 0x1.1p-17, 0x1.cp-15, 0x1.ep-15}),
              ElementsAre(0x1p-16, 0x1p-15, 0, 0x1p-16, 0x1p-14, 0x1p-14));
}

// The largest number of e4m3fn is 448, and the next one would be 480; that of e4m3fnuz is 240.
TEST(Cast, OverflowsAsTheAttributeSays) {
  const Numbers x = {448, 464, 464.5, 1e9, kInfinity, -464.5, -kInfinity};
  EXPECT_THAT(CastOf("overflow=saturate dtype.y=f8_e4m3fn", x),
              ElementsAre(448, 448, 448, 448, 448, -448, -448));
  const auto is_nan = testing::IsNan();
  EXPECT_THAT(CastOf("overflow=nan dtype.y=f8_e4m3fn", x),
              ElementsAre(448, 448, is_nan, is_nan, is_nan, is_nan, is_nan));
  EXPECT_THAT(CastOf("overflow=nan dtype.y=f8_e4m3fnuz", {240, 247, 248, -248}),
              ElementsAre(240, 240, is_nan, is_nan));
  EXPECT_THAT(CastOf("overflow=inf dtype.y=f16", {65504, 65519, 65520, -kInfinity}),
              ElementsAre(65504, 65504, kInfinity, -kInfinity));
  EXPECT_THAT(CastOf("overflow=saturate dtype.y=f64", {kInfinity, -kInfinity}),
              ElementsAre(MaxFinite(DType::kF64), -MaxFinite(DType::kF64)));
}

TEST(Cast, KeepsNaN) {
  for (const char* words : {"overflow=saturate dtype.y=f8_e4m3fn",
                            "overflow=nan dtype.y=f8_e5m2fnuz", "overflow=inf dtype.y=bf16"}) {
    EXPECT_THAT(CastOf(words, {kNaN, -kNaN}), Each(testing::IsNan())) << words;
  }
}

TEST(Cast, KeepsTheSignOfZeroWhereTheTypeHasIt) {
  const auto signs = [](const std::string& type) {
    std::vector<bool> negative;
    for (const double y : CastOf("overflow=saturate dtype.y=" + type, {0.0, -0.0, -1e-30}))
      negative.push_back(std::signbit(y));
    return negative;
  };
  EXPECT_THAT(signs("f8_e4m3fn"), ElementsAre(false, true, true));
  EXPECT_THAT(signs("f8_e5m2"), ElementsAre(false, true, true));
  EXPECT_THAT(signs("f8_e4m3fnuz"), ElementsAre(false, false, false));
  EXPECT_THAT(signs("f8_e5m2fnuz"), ElementsAre(false, false, false));
}

// 8 bits in: all 256 patterns, as f32.
TEST(Cast, WidensExactly) {
  for (const DType type : kTensorTypes) {
    if (SizeOf(type) > 1) continue;
    std::string words = "overflow=inf dtype.y=f32 dtype=";
    const auto y = ProofOf("cast N=1 M=256 @x=codes " + words.append(NameOf(type))).golden[0].value;
    for (size_t i = 0; i < 256; ++i)
      EXPECT_TRUE(SameNumber(y.data[i], DecodeBits(type, i))) << NameOf(type) << " " << i;
  }
}

// Goldens have the same bytes on every machine.
TEST(Cast, GoldensHaveOneNaN) {
  const double payload = -DecodeBits(DType::kF32, 0x7fffffff);
  for (const char* words : {"overflow=inf dtype.y=bf16", "overflow=inf dtype.y=f64"}) {
    const GoldenTensor y = Conversion(words, {payload}).golden[0];
    for (const double x : {y.value.data[0], y.high.data[0]})
      EXPECT_EQ(std::bit_cast<uint64_t>(x), std::bit_cast<uint64_t>(kNaN)) << words;
  }
}

TEST(Cast, SpecifiesEveryElement) {
  const GoldenTensor y =
      Conversion("overflow=nan dtype.y=f8_e4m3fn", {kNaN, kInfinity, 1e9, -0.0, 1, 17}).golden[0];
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_FALSE(IsUnspecified(y, i)) << i;
    EXPECT_TRUE(SameNumber(y.value.data[i], y.high.data[i])) << i;
  }
  EXPECT_THAT(y.low.data, Each(0));
  EXPECT_THAT(y.permitted.data, Each(0));
  EXPECT_THAT(y.radius.data, Each(0));
}

// Every number type, and both engines; the second opinion is that of BoostReal.
TEST(Cast, AllNumberTypesAgree) {
  for (const DType to : kTensorTypes) {
    for (const char* overflow : {"saturate", "inf", "nan"}) {
      std::string line = "cast dtype=f64 N=1 M=40 overflow=" + std::string(overflow) + " dtype.y=";
      line += std::string(NameOf(to)) + " @x=nonfinite";
      if (!CastError(line).empty()) continue;
      const Case c = Case::Parse(line);
      Tensors x = DrawInputs(c);
      for (size_t i = 0; i < 8; ++i) x[0].values.data[i] *= std::ldexp(1.0, 40 * int(i) - 160);
      x[0].values.data[8] = -0.0;
      const Recipe recipe = ParseRecipe("native", c.dtype());
      const GoldenTensor by_counted = Prove({c, x, recipe})[0];
      const GoldenTensor by_interval = Prove({c, x, recipe}, {.engine = Engine::kMpfr})[0];
      const Tensors by_rounded = EvaluateByRecipe({c, x, recipe});
      for (size_t i = 0; i < 40; ++i) {
        const double y =
            CastTo(to, dynamic_cast<const TypedOperation<Cast>&>(c.operation()).op().overflow,
                   x[0].values.data[i]);
        for (const double other :
             {by_counted.value.data[i], by_interval.value.data[i], by_rounded[0].values.data[i]}) {
          EXPECT_TRUE(SameNumber(other, y)) << line << " " << i;
          EXPECT_EQ(std::signbit(other), std::isnan(y) ? std::signbit(other) : std::signbit(y));
        }
      }
      const SecondOpinion opinion = SecondOpinionOn(c, x, {by_counted});
      EXPECT_EQ(opinion.asked, 40u);
      EXPECT_EQ(opinion.confirmed, 40u) << line << " " << opinion.first;
    }
  }
}

// A golden that somebody changed.
TEST(Cast, TheSecondOpinionRefutesWrongSpecials) {
  const Proof proof = Conversion("overflow=nan dtype.y=f8_e4m3fn", {kNaN, kInfinity, -0.0, 1});
  const auto refuted = [&](size_t i, double value) {
    auto golden = proof.golden;
    golden[0].value.data[i] = golden[0].high.data[i] = value;
    return SecondOpinionOn(proof.c, proof.inputs, golden).refuted;
  };
  EXPECT_EQ(refuted(0, 448), 1u);
  EXPECT_EQ(refuted(1, kInfinity), 1u);
  EXPECT_EQ(refuted(2, 0), 1u);
  EXPECT_EQ(refuted(3, kNaN), 1u);
}

// The midpoint 17 of 16 and 18: no recipe permits another number.
TEST(Cast, PermitsNoErrorInAnyRecipe) {
  const auto [c, x, golden] = Conversion("overflow=saturate dtype.y=f8_e4m3fn", {17, kNaN});
  for (const char* recipe : {"native", "exact_table", "*=bf16 store=bf16"}) {
    const auto permitted = PermittedErrors({c, x, ParseRecipe(recipe, c.dtype())});
    EXPECT_THAT(permitted[0].error.data, ElementsAre(0, 0)) << recipe;
    EXPECT_THAT(permitted[0].likely.data, ElementsAre(0, 0)) << recipe;
  }
}

TEST(Cast, NeedsATargetThatHasTheOverflow) {
  EXPECT_EQ(CastError("cast overflow=saturate N=1 M=1"),
            "cast needs dtype.y=, one of: f64 f32 f16 bf16 f8_e4m3fn f8_e5m2 f8_e4m3fnuz "
            "f8_e5m2fnuz");
  EXPECT_EQ(CastError("cast overflow=inf N=1 M=1 dtype.y=f8_e4m3fn"),
            "cast: overflow=inf does not exist in f8_e4m3fn, expected one of: saturate nan");
  EXPECT_EQ(CastError("cast overflow=nan N=1 M=1 dtype.y=f8_e5m2"),
            "cast: overflow=nan does not exist in f8_e5m2, expected one of: saturate inf");
  EXPECT_EQ(CastError("cast N=1 M=1 dtype.y=f16"),
            "cast needs overflow=, one of: saturate inf nan");
  EXPECT_EQ(CastError("cast overflow=nan N=1 M=1 dtype=f8_e5m2 dtype.y=f8_e4m3fn"), "");
}

}  // namespace
}  // namespace sextant
