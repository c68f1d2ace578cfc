#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/judge/judge.h"
#include "oracle/judge/tensor_judge.h"
#include "reference/case/draw.h"
#include "reference/prove/budget.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

using Status = Verdict::Status;

constexpr size_t kScale = 0, kCodes = 1;

// One block of f32 numbers, and the answer of an implementation of the recipe.
struct OneBlock {
  explicit OneBlock(const std::vector<double>& x, const std::string& by = "native",
                    const std::string& words = "")
      : c(Case::Parse("quantize N=1 A=1 G=1 M=" + std::to_string(x.size()) + words)),
        inputs{{"x", DType::kF32, Tensor<double>({1, 1, 1, x.size()}, x)}},
        recipe(ParseRecipe(by, DType::kF32)),
        answer(EvaluateByRecipe({c, inputs, recipe})) {}
  Verdict Judged() const { return Judge(c, inputs, recipe).Evaluate(answer); }
  // With this code of the second number.
  Verdict With(double code) {
    answer[kCodes].values.data[1] = code;
    return Judged();
  }

  Case c;
  Tensors inputs;
  Recipe recipe;
  Tensors answer;
};

TEST(Codes, AnExactTieHasOneCode) {
  OneBlock tie({448, 1.0625});
  EXPECT_EQ(tie.With(1).grade, Grade::kExact);
  for (const double wrong : {1.125, 0.9375, 0.0, kNaN}) {
    const Verdict verdict = tie.With(wrong);
    EXPECT_EQ(verdict.status, Status::kFails) << wrong;
    EXPECT_EQ(verdict.tensors[kCodes].failed, 1) << wrong;
    const auto admissible = verdict.tensors[kCodes].worst.admissible;
    EXPECT_EQ(admissible.value(), std::pair(1.0, 1.0));
  }
}

// x / scale is 1.0625 to 10^-8 of it, which no f32 resolves.
TEST(Codes, BesideATieTwoCodesAreRight) {
  const double x = static_cast<float>(1.0625 * 450 / 448);
  OneBlock near({450, x});
  EXPECT_EQ(near.With(1).status, Status::kConforms);
  EXPECT_EQ(near.With(1.125).status, Status::kConforms);
  EXPECT_NE(near.With(1).grade, near.With(1.125).grade) << "one of them is the exact one";
  for (const double wrong : {0.9375, 1.25, -1.0})
    EXPECT_EQ(near.With(wrong).status, Status::kFails) << wrong;
  EXPECT_EQ(near.Judged().tensors[kCodes].worst.admissible.value(), std::pair(1.0, 1.125));
  // Farther from the tie only one is.
  OneBlock farther({450, x * (1 + 0x1p-20)});
  EXPECT_EQ(farther.With(1.125).grade, Grade::kExact);
  EXPECT_EQ(farther.With(1).status, Status::kFails);
}

// The tie depends on the way: 3.1875 / 3 is one, 3.1875 times the rounded 1/3 is above it.
TEST(Codes, TheWayOfTheRecipeDecidesATie) {
  const std::vector<double> x = {1344, 3.1875};
  EXPECT_EQ(OneBlock(x, "native quantize=f32:divide").With(1.125).status, Status::kFails);
  for (const char* by : {"native", "native quantize=f32:reciprocal", "native quantize=f32:inverse"})
    for (const double code : {1.0, 1.125})
      EXPECT_EQ(OneBlock(x, by).With(code).status, Status::kConforms) << by << " " << code;
}

TEST(Codes, AreJudgedByTheScaleThatIsAnswered) {
  OneBlock block({450, 100, -3, 0.7});
  block.answer[kScale].values.data[0] *= 2;
  for (double& code : block.answer[kCodes].values.data) code /= 2;
  const Verdict verdict = block.Judged();
  EXPECT_EQ(verdict.status, Status::kFails);
  EXPECT_EQ(verdict.tensors[kScale].failed, 1);
  EXPECT_EQ(verdict.tensors[kCodes].failed, 0) << "they follow from the wrong scale";
  // The scale is right, and the codes are those of another one.
  block.answer[kScale].values.data[0] /= 2;
  EXPECT_EQ(block.Judged().tensors[kScale].failed, 0);
  EXPECT_GT(block.Judged().tensors[kCodes].failed, 0);
}

TEST(Codes, AScaleOfNoNumberIsWrong) {
  for (const double scale : {0.0, kNaN, kInfinity, -450.0 / 448}) {
    OneBlock block({450, 100, -3, 0.7});
    block.answer[kScale].values.data[0] = static_cast<float>(scale);
    EXPECT_EQ(block.Judged().status, Status::kFails) << scale;
  }
}

TEST(Codes, OfIntegersAreNearestOrAway) {
  OneBlock even({127, 2.5}, "native", " dtype.codes=i8");
  EXPECT_EQ(even.With(2).grade, Grade::kExact);
  EXPECT_EQ(even.With(3).status, Status::kFails);
  OneBlock away({127, 2.5}, "native", " dtype.codes=i8 ties=away");
  EXPECT_EQ(away.With(3).grade, Grade::kExact);
  EXPECT_EQ(away.With(2).status, Status::kFails);
  OneBlock least({127, -127}, "native", " dtype.codes=i8");
  EXPECT_EQ(least.With(-127).status, Status::kConforms);
  EXPECT_EQ(least.With(-128).status, Status::kFails) << "a value, but not that of this block";
}

TEST(Codes, WithoutAScaleEveryCodeOfATypeWithoutNanIsUnspecified) {
  for (const double x : {kNaN, kInfinity}) {
    OneBlock none({x, 1}, "native", " dtype.codes=f4_e2m1");
    const Verdict verdict = none.With(-6);
    EXPECT_NE(verdict.status, Status::kFails);
    EXPECT_EQ(verdict.tensors[kCodes].unspecified, 2);
  }
}

// 63.998 / (128/127) is 63.498, divided by the f16 1.0078125 it is 63.502.
TEST(Codes, OfAnUnroundedScaleAreNotThoseOfTheAnsweredOne) {
  const std::vector<double> x = {128, static_cast<float>(63.998)};
  OneBlock stored(x, "native", " dtype.codes=i8 dtype.scale=f16");
  EXPECT_EQ(stored.With(64).status, Status::kConforms);
  EXPECT_EQ(stored.With(63).status, Status::kFails);
  OneBlock unrounded(x, "native", " dtype.codes=i8 dtype.scale=f16 codes_by=unrounded");
  EXPECT_EQ(unrounded.With(64).status, Status::kFails);
  EXPECT_EQ(unrounded.With(63).status, Status::kConforms);
}

// The status of a block of e2m1 with this largest number, if it has this scale, and codes of it.
Status OfScale(const std::string& rule, double amax, double scale, const std::string& by = "native",
               const std::string& type = "e8m0") {
  const std::string words = " dtype.codes=f4_e2m1 scale_rule=" + rule + " dtype.scale=" + type;
  OneBlock block({amax}, by, words);
  block.answer[kScale].values.data = {scale};
  block.answer[kCodes].values.data = {RoundTo(DType::kF4E2M1, std::min(6.0, amax / scale))};
  return block.Judged().status;
}

TEST(Codes, AScaleThatIsAPowerOfTwoIsAChoice) {
  for (const char* type : {"e8m0", "f32"}) {
    EXPECT_EQ(OfScale("floor", 7, 1, "native", type), Status::kConforms);
    EXPECT_EQ(OfScale("up", 7, 2, "native", type), Status::kConforms);
    EXPECT_EQ(OfScale("even", 7, 2, "native", type), Status::kConforms);
    EXPECT_EQ(OfScale("even", 6.99, 1, "native", type), Status::kConforms);
    EXPECT_EQ(OfScale("floor", 7, 2, "native", type), Status::kFails) << "up for floor";
    EXPECT_EQ(OfScale("up", 7, 1, "native", type), Status::kFails) << "floor for up";
    EXPECT_EQ(OfScale("even", 7, 1, "native", type), Status::kFails);
    EXPECT_EQ(OfScale("floor", 7, 0.5, "native", type), Status::kFails) << "off by one";
  }
  EXPECT_EQ(OfScale("up", 7, 1.5, "native", "f32"), Status::kFails) << "no power of two";
}

// Beside a border a logarithm or a quotient in f32 may lie on its other side.
TEST(Codes, BesideABorderTwoScalesAreRight) {
  const double below = static_cast<float>(8 * (1 - 0x1p-24)), above = 6 * (1 + 0x1p-23);
  EXPECT_EQ(OfScale("floor", below, 1), Status::kConforms);
  EXPECT_EQ(OfScale("floor", below, 2), Status::kConforms) << "log2 of it is 3 in f32";
  EXPECT_EQ(OfScale("floor", below, 4), Status::kFails);
  EXPECT_EQ(OfScale("floor", 8, 2), Status::kConforms);
  EXPECT_EQ(OfScale("floor", 8, 1), Status::kFails) << "log2 of a power of two is exact";
  EXPECT_EQ(OfScale("floor", 8 * (1 - 0x1p-10), 2), Status::kFails) << "far from it";
  EXPECT_EQ(OfScale("floor", below, 2, "native quantize=f32:divide"), Status::kFails)
      << "by the exponent of the number";
  for (const double scale : {1.0, 2.0})
    EXPECT_EQ(OfScale("up", above, scale), Status::kConforms) << scale;
  EXPECT_EQ(OfScale("up", 6, 1), Status::kConforms);
  EXPECT_EQ(OfScale("up", 6, 2), Status::kConforms) << "6 times the rounded 1/6 may be above 1";
  EXPECT_EQ(OfScale("up", 6, 2, "native quantize=f32:divide"), Status::kFails);
  EXPECT_EQ(OfScale("up", 6, 0.5), Status::kFails);
}

TEST(Codes, TheAdmissibleOnesAreRoundedOutwards) {
  GoldenTensor golden{"codes",
                      DType::kF8E4M3FN,
                      Tensor<double>({1}),
                      Tensor<double>({1}),
                      Tensor<double>({1}),
                      Tensor<double>({1}),
                      Tensor<double>({1})};
  PermittedTensor permitted{
      "codes", DType::kF8E4M3FN, Tensor<double>({1}), Tensor<double>({1}), {0}, {0}};
  const auto admissible = [&](double high, double low, double bound) {
    golden.high.data = {high};
    golden.low.data = {low};
    golden.value.data = {RoundTo(DType::kF8E4M3FN, high)};
    permitted.before_rounding = {bound};
    return AdmissibleOf(golden, permitted, 0);
  };
  EXPECT_EQ(admissible(1.0625, 0, 0), std::pair(1.0, 1.0));
  EXPECT_EQ(admissible(1.0625, 0, 0x1p-100), std::pair(1.0, 1.125));
  EXPECT_EQ(admissible(1.0625 - 0x1p-30, 0, 0x1p-31), std::pair(1.0, 1.0));
  EXPECT_EQ(admissible(1.0625 - 0x1p-30, 0, 0x1p-30), std::pair(1.0, 1.125));
  EXPECT_EQ(admissible(1.0625, -0x1p-60, 0x1p-61), std::pair(1.0, 1.125)) << "within 2^-50";
  for (const double bound : {1.0, 15.0})
    EXPECT_EQ(admissible(448, 0, bound), std::pair(448.0, 448.0)) << "the largest code";
  EXPECT_EQ(admissible(448, 0, 30), std::pair(416.0, 448.0)) << "not NaN, beyond 464";
  EXPECT_EQ(admissible(-448, 0, 30), std::pair(-448.0, -416.0));
  golden.radius.data = {0x1p-20};
  EXPECT_EQ(admissible(1.0625 - 0x1p-20, 0, 0), std::pair(1.0, 1.125)) << "of the enclosure";
}

// 127 and its permitted error go beyond the type, but an implementation limits them.
TEST(Codes, TheLargestOfACoarseNumberCanFail) {
  const Case c = Case::Parse("gated_quantize N=5 G=1 M=33 dtype=bf16 dtype.codes=i8");
  const Tensors inputs = DrawInputs(c);
  const Recipe native = ParseRecipe("native", DType::kBF16);
  Tensors answer = EvaluateByRecipe({c, inputs, native});
  const Judge judge(c, inputs, native);
  EXPECT_EQ(judge.Evaluate(answer).status, Status::kConforms);
  EXPECT_EQ(judge.Evaluate(answer).tensors[1].unjudgeable, 0U);
  for (double& code : answer[1].values.data)
    if (std::abs(code) == 127) code = -code;
  EXPECT_EQ(judge.Evaluate(answer).tensors[1].failed, 5U);
}

// What a judge of choices has not proven for its verdict is of the whole case, in any budget.
TEST(Codes, TheValuesOfTheWholeCaseDoNotDependOnTheBudget) {
  const Case c = Case::Parse("quantize N=64 A=1 G=1 M=4096");
  const Tensors inputs = DrawInputs(c);
  const Recipe native = ParseRecipe("native", DType::kF32);
  const Judge judge(c, inputs, native);
  EXPECT_EQ(judge.Evaluate(EvaluateByRecipe({c, inputs, native})).status, Status::kConforms);
  const ScopedBudget part(Budget{.elements = 4096});
  for (const double x : judge.golden()[1].high.data) ASSERT_FALSE(std::isnan(x));
}

}  // namespace
}  // namespace sextant::oracle
