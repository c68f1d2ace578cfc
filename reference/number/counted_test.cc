#include "reference/number/counted.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

// A step of one format, in which the tests below compute by hand.
class Steps {
 public:
  explicit Steps(const std::string& recipe, DType dtype = DType::kF32)
      : following_(ParseRecipe(recipe, dtype), dtype), at_(Step::kRotate) {}

 private:
  ScopedRecipe following_;
  ScopedStep at_;
};

Counted Input(double x, DType dtype = DType::kF32) { return Counted(x, dtype); }

// A bound says one part in 2^30 more than its formula, for the rounding of the bound itself.
void ExpectBound(const Counted& y, double bound) {
  EXPECT_GE(y.Permitted(), bound);
  EXPECT_LE(y.Permitted(), bound * (1 + 0x1p-29));
}

// 1.5 * 1.25 = 1.875 lies in [1, 2), where the spacing is 2 unit roundoffs.
TEST(Counted, ChargesHalfASpacingPerRounding) {
  const auto product = [](DType dtype) {
    return Input(1.5 + 0x1p-7, dtype) * Input(1.25 + 0x1p-7, dtype);
  };
  {
    const Steps steps("*=bf16");
    ExpectBound(product(DType::kBF16), 0x1p-8);
  }
  {
    const Steps steps("*=f16");
    ExpectBound(Input(1.5 + 0x1p-10, DType::kF16) * Input(1.25 + 0x1p-10, DType::kF16), 0x1p-11);
  }
  {
    const Steps steps("*=f32");
    ExpectBound(Input(1.5 + 0x1p-23) * Input(1.25 + 0x1p-23), 0x1p-24);
  }
  {
    const Steps steps("*=f64");
    EXPECT_GE((Input(1.5 + 0x1p-52, DType::kF64) * Input(1.25 + 0x1p-52, DType::kF64)).Permitted(),
              0x1p-53);
  }
}

// f32 holds the product of two bf16 numbers: nothing is lost. bf16 must round an f32 operand first.
TEST(Counted, ChargesConversionsOnEntry) {
  {
    const Steps steps("*=f32");
    EXPECT_EQ((Input(1 + 0x1p-7, DType::kBF16) * Input(1 + 0x1p-6, DType::kBF16)).Permitted(), 0);
  }
  const Steps steps("*=bf16");
  EXPECT_EQ((Input(1.5) * Input(2)).Permitted(), 0);
  // 1.25 + 2^-20 becomes a bf16 number: off by 2^-8 at most; twice that is exactly twice as far
  // off.
  ExpectBound(Input(1.25 + 0x1p-20) * Input(2), 0x1p-7);
}

TEST(Counted, AttributesAreChargedWhereTheyEnter) {
  const Steps steps("*=f32");
  EXPECT_EQ((Input(0) + Counted(0.5)).Permitted(), 0);
  // 1e-5 lies in [2^-17, 2^-16).
  ExpectBound(Input(0) + Counted(1e-5), 0x1p-41);
}

TEST(Counted, ExactOperandsWithAnExactResultCostNothing) {
  const Steps steps("*=f32");
  EXPECT_EQ((Input(3) + Input(4)).Permitted(), 0);
  EXPECT_EQ((Input(3) * Input(5)).Permitted(), 0);
  EXPECT_EQ((Input(6) / Input(3)).Permitted(), 0);
  EXPECT_EQ(Sqrt(Input(25)).Permitted(), 0);
  EXPECT_EQ(Exp(Input(0)).Permitted(), 0);
  EXPECT_EQ(Log(Input(1)).Permitted(), 0);
  EXPECT_EQ(CosSin(Input(0)).first.Permitted(), 0);
  EXPECT_EQ(CosSin(Input(0)).second.Permitted(), 0);
  EXPECT_EQ(Power(Input(10000), Input(0)).Permitted(), 0);
  EXPECT_GT((Input(1) / Input(3)).Permitted(), 0);
  EXPECT_GT(Sqrt(Input(2)).Permitted(), 0);
  EXPECT_GT(Power(Input(2), Input(2)).Permitted(), 0);  // nobody promises that pow(2, 2) is 4
}

// Operands that carry an error make a result off even where the exact one is a number of the
// format.
TEST(Counted, WaivesNothingForOperandsWithErrors) {
  const Steps steps("*=f32");
  const Counted third = Input(1) / Input(3);
  EXPECT_GE((third * Input(3)).Permitted(), 0x1p-25 + 0x1p-26);
  EXPECT_GT((third - third).Permitted(), 0);
  EXPECT_GT(Sqrt(third * third).Permitted(), third.Permitted());
}

TEST(Counted, PowersOfTwoZerosAndSignsDoNotRound) {
  const Steps steps("*=f32");
  const Counted third = Input(1) / Input(3);
  ExpectBound(third * Input(4), 4 * third.error());
  ExpectBound(third / Input(4), third.error() / 4);
  EXPECT_EQ((third + Input(0)).Permitted(), third.Permitted());
  EXPECT_EQ((-third).Permitted(), third.Permitted());
  EXPECT_EQ((third * Input(0)).Permitted(), 0);
  // ... unless the product is subnormal: 2^-140 / 3 has a spacing of 2^-149.
  ExpectBound(third * Input(0x1p-140), 0x1p-150 + third.error() * 0x1p-140);
}

TEST(Counted, UnderflowAddsAnAbsoluteTerm) {
  const Steps steps("*=f32");
  ExpectBound(Input(0x1.800002p-100) * Input(0x1.8p-40), 0x1p-150);
  // What is smaller than half the least subnormal is off by itself.
  ExpectBound(Input(0x1.8p-100) * Input(0x1.8p-100), 0x1.2p-199);
  const Steps wide("*=f64");
  EXPECT_GE((Input(0x1.8p-600, DType::kF64) * Input(0x1.8p-600, DType::kF64)).Permitted(),
            0x1p-1074);
}

TEST(Counted, OverflowMakesAnElementUnjudgeable) {
  {
    const Steps steps("*=f16");
    EXPECT_EQ((Input(65504, DType::kF16) + Input(16, DType::kF16)).Permitted(), INFINITY);
    EXPECT_TRUE(std::isfinite((Input(65504, DType::kF16) + Input(15, DType::kF16)).Permitted()));
    EXPECT_EQ((Input(256, DType::kF16) * Input(256, DType::kF16)).Permitted(), INFINITY);
    EXPECT_EQ(SumOf(std::vector<Counted>(3, Input(32768, DType::kF16))).Permitted(), INFINITY);
    // On the way to 60000, in some order.
    const Counted large = Input(60000, DType::kF16);
    EXPECT_EQ(SumOf(std::vector{large, large, -large}).Permitted(), INFINITY);
  }
  const Steps steps("*=f64");
  EXPECT_EQ((Input(1e300, DType::kF64) * Input(1e300, DType::kF64)).Permitted(), INFINITY);
  EXPECT_EQ(Exp(Input(2000, DType::kF64)).Permitted(), INFINITY);
}

TEST(Counted, DividingByWhatMayBeZeroPermitsAnything) {
  const Steps steps("*=f32");
  const Counted third = Input(1) / Input(3);
  const Counted nothing = third - Input(0x1.555556p-2);
  EXPECT_EQ((Input(1) / nothing).Permitted(), INFINITY);
  EXPECT_EQ(Log(nothing).Permitted(), INFINITY);
  EXPECT_EQ((Input(1) / Input(0)).Permitted(), INFINITY);
}

// The bound of a cosine is that of its angle, 2 at most: there every answer is permitted.
TEST(Counted, LostAnglesAreSaturated) {
  const Steps steps("*=f32");
  const Counted frequency = Input(1) / Input(3);
  const auto turn = [&](double position) {
    return CosSin(Input(position, DType::kI64) * frequency);
  };
  EXPECT_FALSE(turn(1000).first.saturated());
  EXPECT_LT(turn(1000).first.Permitted(), 1e-4);
  const Counted lost = Input(0x1p27, DType::kI64) * frequency;  // by between 2 and 4
  EXPECT_GT(lost.Permitted(), 2);
  EXPECT_LT(lost.Permitted(), 4);
  EXPECT_TRUE(CosSin(lost).first.saturated());
  const auto [cosine, sine] = turn(0x1p28);
  EXPECT_TRUE(cosine.saturated());
  EXPECT_TRUE((sine * Input(0.5) + Input(1)).saturated());
  const std::vector<Counted> one = {Input(1)}, of_sine = {sine};
  EXPECT_TRUE(Dot<Counted>(one, of_sine).saturated());
  EXPECT_TRUE(Dot<Counted>(of_sine, one).saturated());
  EXPECT_GE(cosine.Permitted(), 2);
  EXPECT_LE(cosine.Permitted(), 2 + 0x1p-23);
  EXPECT_FALSE((cosine * Input(0)).saturated());  // 0 times whatever is 0
}

// An angle that overflows has no cosine: it is NaN, and no bound holds.
TEST(Counted, OverflowingAnglesAreUnjudgeable) {
  const Steps steps("*=f16", DType::kF16);
  for (const double frequency : {1.0, 0.7, 0.0}) {
    const Counted angle = Input(0x1p40, DType::kI64) * Input(frequency, DType::kF16);
    EXPECT_EQ(CosSin(angle).first.Permitted(), INFINITY) << frequency;
  }
}

// Frequency 1 comes out exactly (base^0), and so do angles: what is left is the sine itself.
TEST(Counted, FrequencyOneIsolatesTheSine) {
  const ScopedRecipe following(ParseRecipe("native", DType::kF32), DType::kF32);
  const auto frequency = InversePower<Counted>(10000, 0, 128);
  EXPECT_EQ(frequency.Permitted(), 0);
  AngleTable<Counted> rotor(frequency);
  ExpectBound(rotor(1).second, 0x1p-24);   // sin 1 = 0.84 to one unit in the last place
  ExpectBound(rotor(1e6).first, 0x1p-24);  // cos 1000000 = 0.94
  AngleTable<Counted> slow(InversePower<Counted>(10000, 2, 128));
  EXPECT_GT(slow(1e6).first.Permitted(), 1e-3);
}

// The centre of a tiny sine is as precise as that of a large one.
TEST(Counted, SinesOfTinyAnglesAreJudgedInTheirOwnUnits) {
  const Steps steps("*=f64");
  EXPECT_LE(CosSin(Input(0x1.5p-90, DType::kF64)).second.Permitted(), 0x1p-141);
}

TEST(Counted, FunctionsCostTheUlpsOfTheirStep) {
  const auto cosine_of_one = [](const std::string& recipe) {
    const Steps steps(recipe);
    return CosSin(Input(1)).first;  // 0.54
  };
  ExpectBound(cosine_of_one("*=f32 rotate=f32/0.5"), 0x1p-25);
  ExpectBound(cosine_of_one("*=f32"), 0x1p-24);
  ExpectBound(cosine_of_one("*=f32 rotate=f32/4"), 0x1p-22);
}

// n = 9 terms of 1/8-spaced size: 8 u sum |x| in any order, ceil(log2 9) = 4 by halves.
TEST(Counted, SumsCostTheirOrder) {
  const auto sum = [](const std::string& form) {
    const ScopedRecipe following(ParseRecipe("*=f32 sum=f32:" + form, DType::kF32), DType::kF32);
    const ScopedStep at(Step::kSum);
    return SumOf(std::vector<Counted>(9, Input(0.1f))).Permitted();
  };
  const double size = 9 * static_cast<double>(0.1f);
  EXPECT_NEAR(sum("any"), 8 * 0x1p-24 * size, 0x1p-50);
  EXPECT_EQ(sum("any"), sum("sequential"));
  EXPECT_NEAR(sum("pairwise"), 4 * 0x1p-24 * size, 0x1p-44);
}

// What is summed are the numbers that an implementation holds, errors and all.
TEST(Counted, SumsCountTheErrorsOfTheirTerms) {
  const ScopedRecipe following(ParseRecipe("*=bf16", DType::kBF16), DType::kBF16);
  const ScopedStep at(Step::kSum);
  const Counted third = Input(1, DType::kBF16) / Input(3, DType::kBF16);
  const double e = third.error(), sum = 9 * e + 8 * 0x1p-8 * 9 * (1.0 / 3 + e);
  ExpectBound(SumOf(std::vector<Counted>(9, third)), sum * (1 - 0x1p-40));
}

TEST(Counted, SumsInAnyOrderStayWithin) {
  const ScopedRecipe following(ParseRecipe("*=bf16", DType::kBF16), DType::kBF16);
  const ScopedStep at(Step::kSum);
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<Counted> counted;
    std::vector<double> terms;
    double exact = 0;  // 40 numbers of 8 bits within 2^8 of each other: exact
    for (int k = 0; k < 40; ++k) {
      terms.push_back(RoundTo(DType::kBF16, random.Number(4)));
      counted.push_back(Input(terms.back(), DType::kBF16));
      exact += terms.back();
    }
    while (terms.size() > 1) {  // any two numbers at a time
      std::swap(terms[random.Below(terms.size())], terms.back());
      const double last = terms.back();
      terms.pop_back();
      double& other = terms[random.Below(terms.size())];
      other = RoundTo(DType::kBF16, other + last);
    }
    EXPECT_LE(std::abs(terms[0] - exact), SumOf(counted).Permitted());
  }
}

TEST(Counted, ExactStepsChargeNothing) {
  const Steps steps("*=exact store=T");
  EXPECT_LT((Input(1) / Input(3)).Permitted(), 0x1p-98);
  EXPECT_LT(CosSin(Input(1)).first.Permitted(), 0x1p-98);
  const ScopedStore store(DType::kF32);
  ExpectBound(Converted(Input(1) / Input(3)), 0x1p-26);
}

TEST(Counted, ClampKnowsOnlyWhatIsBeyondALimit) {
  const Steps steps("*=f32");
  const Counted zero(0.0), one(1.0), third = Input(1) / Input(3);
  EXPECT_EQ(Clamp(third - Input(1), zero, one).center(), DoubleDouble(0));
  EXPECT_EQ(Clamp(third - Input(1), zero, one).Permitted(), 0);
  EXPECT_EQ(Clamp(third + Input(1), zero, one).Permitted(), 0);
  EXPECT_EQ(Clamp(third, zero, one).Permitted(), third.Permitted());
  // 3/3 - 1, computed: some implementations are below 0 and some above.
  const Counted border = third * Input(3) - Input(1);
  EXPECT_EQ(Clamp(border, zero, one).Permitted(), border.Permitted());
  const Counted below = border - Input(0x1p-30);
  EXPECT_EQ(Clamp(below, zero, one).center(), DoubleDouble(0));
  EXPECT_EQ(Clamp(below, zero, one).Permitted(), below.Permitted());
}

// 1/3 off by 4, and 1 over it: any number or NaN, unless arithmetic is exact.
TEST(Counted, ClampBoundsErrorsOfNumbers) {
  const Steps steps("*=f32 keep=exact");
  const Counted zero(0.0), two(2.0), third = Input(1) / Input(3);
  const Counted far = (third + Input(0x1p26)) - Input(0x1p26), lost = third / far;
  EXPECT_GT(far.Permitted(), 3.9);
  EXPECT_NEAR(Clamp(far, zero, two).Permitted(), 5.0 / 3, 1e-6);
  EXPECT_EQ(Clamp(lost, zero, two).Permitted(), INFINITY);
  const ScopedStep at(Step::kKeep);
  EXPECT_NEAR(Clamp(lost, zero, two).Permitted(), 1, 1e-6);
}

}  // namespace
}  // namespace sextant
