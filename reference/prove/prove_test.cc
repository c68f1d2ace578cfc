#include "reference/prove/prove.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstring>
#include <string>
#include <vector>

#include "reference/case/operations.h"
#include "reference/case/random_test.h"
#include "reference/layer/rms_norm.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

// |answer - (high + low)|; answer - high is exact, because they are near.
double ErrorOf(const GoldenTensor& g, size_t i, double answer) {
  if (answer == g.high.data[i]) return 0;  // infinities too
  return std::abs((answer - g.high.data[i]) - g.low.data[i]);
}

// mean(1, 49) = 25.
TEST(Prove, ProvesARowWithARationalRoot) {
  const GoldenTensor y = ProofOf("rms_norm N=1 M=2 eps=0 @x=1,7 @weight=1,1").golden[0];
  EXPECT_THAT(y.value.data, ElementsAre(0.2f, 1.4f));
  EXPECT_THAT(y.high.data, ElementsAre(0.2, 1.4));
  // 0.2 = 0x1.999999999999a p-3 - 0.4 units of 2^-55, rounded to 2^-75.
  EXPECT_EQ(y.low.data[0], -419430 * 0x1p-75);
  EXPECT_THAT(y.radius.data, ElementsAre(0, 0));
}

// x = 1, mean square + eps = 9, weight 3: the result is exactly 1.
TEST(Prove, DecidesRationalResults) {
  const GoldenTensor y = ProofOf("rms_norm N=1 M=2 eps=8 @x=1,1 @weight=3,3").golden[0];
  EXPECT_THAT(y.high.data, ElementsAre(1, 1));
  EXPECT_THAT(y.low.data, ElementsAre(0, 0));
  EXPECT_THAT(y.radius.data, ElementsAre(0, 0));
}

// The mean square is 1/9, which is not a binary number: w / sqrt(1/9) = 3 w is a point at no
// precision. If 3 w is the midpoint of two f32 numbers, no precision decides its rounding.
TEST(Prove, StoresEnclosuresOfUndecidedElements) {
  const GoldenTensor y =
      ProofOf("rms_norm N=1 M=9 eps=0 @x=1,0,0,0,0,0,0,0,0 @weight=0x1.000002p+0,1,1,1,1,1,1,1,1")
          .golden[0];
  EXPECT_EQ(y.value.data[0], 3 + 0x1p-21);  // ties to even
  EXPECT_EQ(y.high.data[0], 3 + 0x3p-23);
  EXPECT_EQ(y.low.data[0], 0);
  EXPECT_GT(y.radius.data[0], 0);
  EXPECT_LT(y.radius.data[0], 1e-300);  // the precision rose to its maximum
  EXPECT_EQ(y.high.data[1], 0);         // 0 / (1/3) is decided
  EXPECT_EQ(y.radius.data[1], 0);
}

// Goldens have the same bytes on every machine.
TEST(Prove, GivesOneNaN) {
  const Case c = Case::Parse("rms_norm N=1 M=3");
  Tensors inputs = DrawInputs(c);
  inputs[0].values.data = {-DecodeBits(DType::kF32, 0x7fffffff), INFINITY, 1};
  const GoldenTensor y = Prove({c, inputs, ParseRecipe("native", c.dtype())})[0];
  for (const auto* part : {&y.value, &y.high, &y.permitted}) {
    for (const double x : part->data)
      EXPECT_EQ(std::bit_cast<uint64_t>(x), std::bit_cast<uint64_t>(kNaN));
  }
}

// y = x / (x^2 + 1/3 + 1/3 + 1/3 - 1) = 1 / x. For x = 0 the divisor encloses 0 at every precision.
struct Inverse : RmsNorm {
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>&, Tensor<Real>& y) const {
    const Real one(1.0), third = one / Real(3.0);
    for (size_t i = 0; i < y.data.size(); ++i) {
      y.data[i] = x.data[i] / (x.data[i] * x.data[i] + third + third + third - one);
    }
  }
};

// x = 0 has no enclosure at any precision. Level 2 proves the other element of its row.
TEST(Prove, GivesAnInfiniteRadiusIfNoPrecisionSuffices) {
  const Case c = Case::Parse("rms_norm N=5 M=2 @x=1,2,0,4,4,2,1,8,8,-1");
  const GoldenTensor y =
      Prove({c, DrawInputs(c), ParseRecipe("native", c.dtype()), Wrapped<Inverse>()})[0];
  EXPECT_THAT(y.value.data, ElementsAre(1, 0.5, 0, 0.25, 0.25, 0.5, 1, 0.125, 0.125, -1));
  EXPECT_THAT(y.radius.data, ElementsAre(0, 0, INFINITY, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_EQ(y.high.data[2], 0);
  EXPECT_EQ(y.permitted.data[2], INFINITY);
  EXPECT_LT(y.permitted.data[1], 1e-6);
}

// The same with w = 1: 3 is not a midpoint. The enclosure is narrower than every double.
TEST(Prove, DecidesIfTheEnclosureIsNarrowerThanEveryDouble) {
  const GoldenTensor y =
      ProofOf("rms_norm N=1 M=9 eps=0 @x=1,0,0,0,0,0,0,0,0 @weight=1,1,1,1,1,1,1,1,1").golden[0];
  EXPECT_EQ(y.value.data[0], 3);
  EXPECT_EQ(y.high.data[0], 3);
  EXPECT_EQ(y.low.data[0], 0);
  EXPECT_EQ(y.radius.data[0], 0);
}

// (1 + 2^-26) (1 + 2^-27) is a tie of f64; 2^-900 more decides it. That does not fit into 192 bits.
TEST(Prove, RaisesThePrecisionUntilDecided) {
  const GoldenTensor y = ProofOf(
                             "rope_rotate pairing=half B=1 H=1 S=1 D=2 dtype=f64 "
                             "@x=0x1.0000004p+0,-0x1p-900 @cos=0x1.0000002p+0 @sin=1")
                             .golden[0];
  EXPECT_THAT(y.value.data, ElementsAre(0x1.0000006000001p+0, 0x1.0000004p+0));
  EXPECT_THAT(y.low.data, ElementsAre(-0x1p-53, 0));
  EXPECT_THAT(y.radius.data, ElementsAre(0, 0));
}

// x + (1/3 + 1/3 + 1/3 - 1): x = 2^-900 needs 1536 bits. Counts the rows that MPFR evaluates.
struct CountingSum : RmsNorm {
  static inline std::atomic<size_t> rows{0};
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>&, Tensor<Real>& y) const {
    if constexpr (std::same_as<Real, Interval>) rows += x.shape[0];
    const Real one(1.0), third = one / Real(3.0), zero = third + third + third - one;
    for (size_t i = 0; i < y.data.size(); ++i) y.data[i] = x.data[i] + zero;
  }
};

TEST(Prove, ProvesOnlyUndecidedElementsAgain) {
  const Case c = Case::Parse("rms_norm N=256 M=1 dtype=f64 @x=normal");
  Tensors inputs = DrawInputs(c);
  for (double& x : inputs[0].values.data) x = 100 + std::nearbyint(16 * x);
  inputs[0].values.data[77] = 0x1p-900;
  const GoldenTensor y =
      Prove({c, inputs, ParseRecipe("native", c.dtype()), Wrapped<CountingSum>()})[0];
  EXPECT_EQ(y.high.data, inputs[0].values.data);
  EXPECT_THAT(y.radius.data, testing::Each(0));
  EXPECT_EQ(CountingSum::rows, 4 * 2u);  // and a neighbour, at 184, 384, 768 and 1536 bits
}

// 1 + 2^-8 is the midpoint of two bf16 numbers; adding 2^-40 makes one of them nearer.
TEST(Prove, RoundsOnceTiesToEven) {
  const auto sum = [](const std::string& x) {
    return ProofOf(
               "rope_rotate pairing=half B=1 H=1 S=1 D=2 dtype=bf16 dtype.cos=f32 dtype.sin=f32 "
               "@x=" +
               x + " @cos=1 @sin=1")
        .golden[0]
        .value.data[1];  // x_0 sin + x_1 cos
  };
  EXPECT_EQ(sum("1,0x1p-8"), 1);
  EXPECT_EQ(sum("0x1.02p+0,0x1p-8"), 0x1.04p+0);
  EXPECT_EQ(sum("0x1p-40,1"), 1);
}

TEST(Prove, ElementsThatDependOnNaNOrInfinityAreUnspecified) {
  const Proof proof = ProofOf("rope pairing=interleaved H=1 S=8 D=4 seed=3 @x=nonfinite");
  const GoldenTensor& y = proof.golden[0];
  size_t unspecified = 0;
  for (size_t i = 0; i < y.value.data.size(); i += 2) {
    const auto x = proof.inputs[0].values.data.begin() + static_cast<ptrdiff_t>(i);
    const bool reached = !std::isfinite(x[0]) || !std::isfinite(x[1]);
    unspecified += reached;
    for (const size_t j : {i, i + 1}) {
      EXPECT_EQ(std::isnan(y.value.data[j]), reached) << j;
      EXPECT_EQ(std::isnan(y.high.data[j]), reached);
      EXPECT_EQ(std::isnan(y.permitted.data[j]), reached);
      EXPECT_EQ(y.radius.data[j], 0);
    }
  }
  EXPECT_GT(unspecified, 0u);
}

// 65504 (cos 1 + sin 1) = 90 512 overflows f16, and so does the permitted error.
TEST(Prove, OverflowMakesThePermittedErrorInfinite) {
  const GoldenTensor y =
      ProofOf("rope pairing=half H=1 S=1 D=2 dtype=f16 @x=65504,65504 @position=1").golden[0];
  EXPECT_EQ(y.value.data[1], INFINITY);
  EXPECT_NEAR(y.high.data[1], 65504 * (std::cos(1) + std::sin(1)), 1e-9);
  EXPECT_EQ(y.permitted.data[1], INFINITY);
  EXPECT_NEAR(y.value.data[0], 65504 * (std::cos(1) - std::sin(1)), 16);
  EXPECT_LT(y.permitted.data[0], 200);
}

// 1.0625 and 17 are ties in f8_e4m3fn; its ulps are 1/8 and 2. At position 0 nothing rotates.
TEST(Prove, StoresInTypesOf8Bits) {
  const GoldenTensor y =
      ProofOf("rope pairing=half H=1 S=1 D=2 dtype.y=f8_e4m3fn @x=1.0625,17 @position=0").golden[0];
  EXPECT_EQ(y.dtype, DType::kF8E4M3FN);
  EXPECT_THAT(y.value.data, ElementsAre(1, 16));
  EXPECT_THAT(y.high.data, ElementsAre(1.0625, 17));
  EXPECT_NEAR(y.permitted.data[0], 0.0625, 1e-6);
  EXPECT_NEAR(y.permitted.data[1], 1, 1e-5);
}

// As in f16, but the value is NaN where the type has no infinity: 448 (cos 1 + sin 1) = 619.
TEST(Prove, OverflowOf8BitsMakesThePermittedErrorInfinite) {
  for (const char* dtype : {"f8_e4m3fn", "f8_e4m3fnuz", "f8_e5m2"}) {
    const DType type = ParseDType(dtype);
    const double most = MaxFinite(type);
    const std::string x = PrintValue(most) + "," + PrintValue(most);
    const GoldenTensor y = ProofOf("rope pairing=half H=1 S=1 D=2 dtype.y=" + std::string(dtype) +
                                   " @x=" + x + " @position=1")
                               .golden[0];
    EXPECT_TRUE(SameNumber(y.value.data[1], HasInfinity(type) ? INFINITY : NAN)) << dtype;
    EXPECT_NEAR(y.high.data[1], most * (std::cos(1) + std::sin(1)), 1e-9);
    EXPECT_EQ(y.permitted.data[1], INFINITY);
    EXPECT_EQ(y.radius.data[1], 0);
    const double difference = most * (std::cos(1) - std::sin(1));
    EXPECT_EQ(y.value.data[0], RoundTo(type, difference));
    EXPECT_NEAR(y.permitted.data[0], UlpOf(type, difference) / 2, most * 1e-6);
  }
}

TEST(Prove, PermitsNoErrorInCopiedElements) {
  const GoldenTensor y =
      ProofOf("rope pairing=half H=2 S=2 D=8 R=4 offset=2 dtype=bf16 @position=0,5").golden[0];
  for (size_t i = 0; i < y.value.data.size(); ++i) {
    const size_t channel = i % 8, s = i / 8 % 2;
    const bool rotates = channel >= 2 && channel < 6 && s == 1;
    EXPECT_EQ(y.permitted.data[i] > 0, rotates) << i;
  }
}

TEST(SlowProve, ReportsProgressToItsEnd) {
  const Case c = Case::Parse("rope_table R=64 S=8192");
  std::vector<double> done;
  Prove({c, DrawInputs(c), ParseRecipe("native", c.dtype())},
        {.threads = 2, .progress = [&done](double part) { done.push_back(part); }});
  EXPECT_GT(done.size(), 1u);
  EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
  EXPECT_EQ(done.back(), 1);
}

TEST(PermittedErrors, AgreesWithProve) {
  const auto [c, inputs, golden] =
      ProofOf("rope pairing=half H=2 S=5 D=8 dtype=bf16 @position=random_positions");
  const auto permitted = PermittedErrors({c, inputs, ParseRecipe("native", DType::kBF16)});
  EXPECT_EQ(permitted[0].error.data, golden[0].permitted.data);
}

// The error of the f32 angle of position 2^30 at frequency 10^-1 may be a whole circle, but not
// that of position 3.
TEST(PermittedErrors, MarksVacuousElements) {
  const Case c = Case::Parse("rope pairing=half H=1 S=2 D=4 base=100 @position=3,0x1p30");
  const auto y = PermittedErrors({c, DrawInputs(c), ParseRecipe("native", c.dtype())})[0];
  // Pair 0 (channels 0 and 2) has frequency 1, which is exact.
  EXPECT_EQ(y.vacuous, (std::vector<char>{0, 0, 0, 0, 0, 1, 0, 1}));
}

TEST(EvaluateByRecipe, TheExactRecipeAnswersTheCorrectlyRoundedValue) {
  for (const char* line :
       {"rope pairing=half H=2 S=9 D=16 dtype=f16", "sinusoidal S=9 M=16",
        "rms_norm N=5 M=16 dtype=bf16", "rope_frequencies R=64 scaling=llama3"}) {
    const auto [c, inputs, golden] = ProofOf(line);
    const Tensors answer = EvaluateByRecipe({c, inputs, ParseRecipe("exact", c.dtype())});
    EXPECT_EQ(answer[0].values.data, golden[0].value.data) << line;
  }
}

// The largest ratio of an error of the recipe's implementation to the permitted error.
double WorstRatio(const Proof& proof, const std::string& recipe) {
  const Tensors answer =
      EvaluateByRecipe({proof.c, proof.inputs, ParseRecipe(recipe, proof.c.dtype())});
  // Codes are judged by the scale that was answered, weights by the indices.
  const Recipe own = ParseRecipe(recipe, proof.c.dtype());
  const bool has_choices = proof.c.info().HasChoices();
  const std::vector<GoldenTensor> golden =
      has_choices ? Prove({proof.c, proof.inputs, own, proof.c.operation(), &answer})
                  : proof.golden;
  double worst = 0;
  for (size_t o = 0; o < answer.size(); ++o) {
    const GoldenTensor& g = golden[o];
    for (size_t i = 0; i < g.high.data.size(); ++i) {
      if (std::isnan(g.high.data[i]) || g.permitted.data[i] == INFINITY) continue;
      // The code of 0 where a scale of f16 is 0. Codes are judged by the answered scale.
      if (g.choice != Choice::kNone && std::isnan(answer[o].values.data[i])) continue;
      const double error = ErrorOf(g, i, answer[o].values.data[i]);
      const double permitted = g.permitted.data[i];
      EXPECT_LE(error, permitted) << proof.c.ToString() << " by " << recipe << " at "
                                  << IndexText(g.name, g.high.shape, i);
      if (!(error <= permitted)) return INFINITY;
      if (error > 0) worst = std::max(worst, error / permitted);
    }
  }
  return worst;
}

class SlowPermittedErrorsOf : public testing::TestWithParam<uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, SlowPermittedErrorsOf, testing::Values(2, 3, 4, 5));

TEST_P(SlowPermittedErrorsOf, NoRecipeExceedsItsPermittedErrors) {
  const std::vector<std::string> recipes = {"native",
                                            "native weigh=f8_e4m3fn",
                                            "f32_compute weigh=f8_e5m2",
                                            "f32_compute",
                                            "all_native",
                                            "exact",
                                            "exact_table",
                                            "exp_log",
                                            "power_chain",
                                            "iterated",
                                            "*=f32 sum=f32:pairwise",
                                            "*=f64 angle=bf16 scale=T",
                                            "*=f16 rsqrt=f32 table=f64"};
  Random random(GetParam());
  size_t elements = 0;
  while (elements < 250000) {
    for (const auto& operation : AllOperations()) {
      const std::string recipe = random.OneOf(recipes);
      const Proof proof = ProofOf(AnyCase(operation->info(), random).ToString(), recipe);
      WorstRatio(proof, recipe);
      ASSERT_FALSE(HasFailure());
      for (const GoldenTensor& g : proof.golden) elements += g.high.data.size();
    }
  }
}

// The bounds are tight: an implementation reaches a quarter of them.
TEST(SlowPermittedErrors, ErrorsOfRopeReachAQuarterOfThePermittedErrors) {
  for (const char* dtype : {"f32", "bf16", "f16", "f64"}) {
    for (const char* position : {"sequence", "sequence(4000)", "random_positions(131072)"}) {
      const Proof proof = ProofOf(std::string("rope pairing=half H=4 S=128 D=128 dtype=") + dtype +
                                  " @position=" + position);
      EXPECT_GE(WorstRatio(proof, "native"), 0.25) << proof.c.ToString();
    }
  }
}

TEST(SlowProve, DoesNotDependOnTheNumberOfThreads) {
  const Case c =
      Case::Parse("rope pairing=half H=3 S=400 D=130 R=64 dtype=bf16 @position=random_positions");
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const auto one = Prove({c, inputs, recipe}, {.threads = 1})[0],
             many = Prove({c, inputs, recipe}, {.threads = 5})[0];
  const auto same = [](const Tensor<double>& a, const Tensor<double>& b) {
    return std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(double)) == 0;
  };
  EXPECT_TRUE(same(one.value, many.value));
  EXPECT_TRUE(same(one.high, many.high));
  EXPECT_TRUE(same(one.low, many.low));
  EXPECT_TRUE(same(one.permitted, many.permitted));
}

TEST(IndexText, PrintsNameAndIndices) {
  EXPECT_EQ(IndexText("y", {2, 3, 4}, 23), "y[1,2,3]");
  EXPECT_EQ(IndexText("attention_factor", {}, 0), "attention_factor[]");
}

}  // namespace
}  // namespace sextant
