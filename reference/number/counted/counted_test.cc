#include "reference/number/counted/counted.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

// A step of one format: the tests below compute its errors by hand.
class Steps {
 public:
  explicit Steps(const std::string& recipe, DType dtype = DType::kF32)
      : following_(ParseRecipe(recipe, dtype), dtype), at_(Step::kRotate) {}

 private:
  ScopedRecipe following_;
  ScopedStep at_;
};

Counted Input(double x, DType dtype = DType::kF32) { return Counted(x, dtype); }

// A bound exceeds its formula by one part in 2^30, for the rounding of the bound itself.
void ExpectBound(const Counted& y, double bound) {
  EXPECT_GE(y.Permitted(), bound);
  EXPECT_LE(y.Permitted(), bound * (1 + 0x1p-29));
}

// 1.5 * 1.25 = 1.875 lies in [1, 2), where an ulp is 2 unit roundoffs.
TEST(Counted, ChargesHalfAnUlpPerRounding) {
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

// The product of two bf16 numbers is exact in f32. A bf16 step first rounds an f32 operand.
TEST(Counted, ChargesConversionsOnEntry) {
  {
    const Steps steps("*=f32");
    EXPECT_EQ((Input(1 + 0x1p-7, DType::kBF16) * Input(1 + 0x1p-6, DType::kBF16)).Permitted(), 0);
  }
  const Steps steps("*=bf16");
  EXPECT_EQ((Input(1.5) * Input(2)).Permitted(), 0);
  // Rounding 1.25 + 2^-20 to bf16 errs by at most 2^-8; multiplying by 2 doubles the error.
  ExpectBound(Input(1.25 + 0x1p-20) * Input(2), 0x1p-7);
}

TEST(Counted, ChargesTheConversionOfAttributes) {
  const Steps steps("*=f32");
  EXPECT_EQ((Input(0) + Counted(0.5)).Permitted(), 0);
  // 1e-5 lies in [2^-17, 2^-16).
  ExpectBound(Input(0) + Counted(1e-5), 0x1p-41);
}

TEST(Counted, ChargesNothingForExactOperandsWithAnExactResult) {
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
  EXPECT_GT(Power(Input(2), Input(2)).Permitted(), 0);  // no library promises that pow(2, 2) is 4
}

// With operands that have errors the result may be rounded, even if the exact result is a value of
// the format.
TEST(Counted, ChargesTheRoundingOfOperandsWithErrors) {
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
  // A subnormal product is rounded: the ulp of 2^-140 / 3 is 2^-149.
  ExpectBound(third * Input(0x1p-140), 0x1p-150 + third.error() * 0x1p-140);
}

TEST(Counted, UnderflowAddsAnAbsoluteTerm) {
  const Steps steps("*=f32");
  ExpectBound(Input(0x1.800002p-100) * Input(0x1.8p-40), 0x1p-150);
  // A number below half the smallest subnormal is rounded to 0: it errs by itself.
  ExpectBound(Input(0x1.8p-100) * Input(0x1.8p-100), 0x1.2p-199);
  const Steps wide("*=f64");
  EXPECT_GE((Input(0x1.8p-600, DType::kF64) * Input(0x1.8p-600, DType::kF64)).Permitted(),
            0x1p-1074);
}

TEST(Counted, OverflowMakesTheBoundInfinite) {
  {
    const Steps steps("*=f16");
    EXPECT_EQ((Input(65504, DType::kF16) + Input(16, DType::kF16)).Permitted(), INFINITY);
    EXPECT_TRUE(std::isfinite((Input(65504, DType::kF16) + Input(15, DType::kF16)).Permitted()));
    EXPECT_EQ((Input(256, DType::kF16) * Input(256, DType::kF16)).Permitted(), INFINITY);
    EXPECT_EQ(SumOf(std::vector<Counted>(3, Input(32768, DType::kF16))).Permitted(), INFINITY);
    // The sum is 60000, but a partial sum overflows in some order.
    const Counted large = Input(60000, DType::kF16);
    EXPECT_EQ(SumOf(std::vector{large, large, -large}).Permitted(), INFINITY);
  }
  const Steps steps("*=f64");
  EXPECT_EQ((Input(1e300, DType::kF64) * Input(1e300, DType::kF64)).Permitted(), INFINITY);
  EXPECT_EQ(Exp(Input(2000, DType::kF64)).Permitted(), INFINITY);
}

TEST(Counted, DivisorThatMayBeZeroMakesTheBoundInfinite) {
  const Steps steps("*=f32");
  const Counted third = Input(1) / Input(3);
  const Counted nothing = third - Input(0x1.555556p-2);
  EXPECT_EQ((Input(1) / nothing).Permitted(), INFINITY);
  EXPECT_EQ(Log(nothing).Permitted(), INFINITY);
  EXPECT_EQ((Input(1) / Input(0)).Permitted(), INFINITY);
}

// The bound of a cosine is the bound of its angle, but at most 2: then every answer is permitted.
TEST(Counted, LostAnglesAreSaturated) {
  const Steps steps("*=f32");
  const Counted frequency = Input(1) / Input(3);
  const auto cos_sin_at = [&](double position) {
    return CosSin(Input(position, DType::kI64) * frequency);
  };
  EXPECT_FALSE(cos_sin_at(1000).first.saturated());
  EXPECT_LT(cos_sin_at(1000).first.Permitted(), 1e-4);
  const Counted lost = Input(0x1p27, DType::kI64) * frequency;  // the error is between 2 and 4
  EXPECT_GT(lost.Permitted(), 2);
  EXPECT_LT(lost.Permitted(), 4);
  EXPECT_TRUE(CosSin(lost).first.saturated());
  const auto [cosine, sine] = cos_sin_at(0x1p28);
  EXPECT_TRUE(cosine.saturated());
  EXPECT_TRUE((sine * Input(0.5) + Input(1)).saturated());
  const std::vector<Counted> one = {Input(1)}, of_sine = {sine};
  EXPECT_TRUE(Dot<Counted>(one, of_sine).saturated());
  EXPECT_TRUE(Dot<Counted>(of_sine, one).saturated());
  EXPECT_GE(cosine.Permitted(), 2);
  EXPECT_LE(cosine.Permitted(), 2 + 0x1p-23);
  EXPECT_FALSE((cosine * Input(0)).saturated());  // 0 times any number is 0
}

// The cosine of an angle that overflows is NaN: no bound holds.
TEST(Counted, OverflowingAnglesMakeTheBoundInfinite) {
  const Steps steps("*=f16", DType::kF16);
  for (const double frequency : {1.0, 0.7, 0.0}) {
    const Counted angle = Input(0x1p40, DType::kI64) * Input(frequency, DType::kF16);
    EXPECT_EQ(CosSin(angle).first.Permitted(), INFINITY) << frequency;
  }
}

// Frequency 1 (base^0) is exact, and so are its angles: only the sine itself errs.
TEST(Counted, FrequencyOneLeavesOnlyTheErrorOfTheSine) {
  const ScopedRecipe following(ParseRecipe("native", DType::kF32), DType::kF32);
  const auto frequency = InversePower<Counted>(10000, 0, 128);
  EXPECT_EQ(frequency.Permitted(), 0);
  AngleTable<Counted> table(frequency);
  ExpectBound(table(1).second, 0x1p-24);   // sin 1 = 0.84, accurate to one ulp
  ExpectBound(table(1e6).first, 0x1p-24);  // cos 1000000 = 0.94
  AngleTable<Counted> slow(InversePower<Counted>(10000, 2, 128));
  EXPECT_GT(slow(1e6).first.Permitted(), 1e-3);
}

// The centre of a tiny sine has the same relative precision as that of a large one.
TEST(Counted, SinesOfTinyAnglesHaveASmallRelativeError) {
  const Steps steps("*=f64");
  EXPECT_LE(CosSin(Input(0x1.5p-90, DType::kF64)).second.Permitted(), 0x1p-141);
}

TEST(Counted, ChargesFunctionsTheUlpsOfTheirStep) {
  const auto cosine_of_one = [](const std::string& recipe) {
    const Steps steps(recipe);
    return CosSin(Input(1)).first;  // 0.54
  };
  ExpectBound(cosine_of_one("*=f32 rotate=f32/0.5"), 0x1p-25);
  ExpectBound(cosine_of_one("*=f32"), 0x1p-24);
  ExpectBound(cosine_of_one("*=f32 rotate=f32/4"), 0x1p-22);
}

// n = 9 terms: 8 u sum |x| in any order, and ceil(log2 9) = 4 u sum |x| pairwise.
TEST(Counted, ChargeOfASumDependsOnItsOrder) {
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

// The roundings of a sum act on the terms that an implementation holds, errors included.
TEST(Counted, SumsIncludeTheErrorsOfTheirTerms) {
  const ScopedRecipe following(ParseRecipe("*=bf16", DType::kBF16), DType::kBF16);
  const ScopedStep at(Step::kSum);
  const Counted third = Input(1, DType::kBF16) / Input(3, DType::kBF16);
  const double e = third.error(), sum = 9 * e + 8 * 0x1p-8 * 9 * (1.0 / 3 + e);
  ExpectBound(SumOf(std::vector<Counted>(9, third)), sum * (1 - 0x1p-40));
}

TEST(Counted, SumsInAnyOrderStayWithinTheBound) {
  const ScopedRecipe following(ParseRecipe("*=bf16", DType::kBF16), DType::kBF16);
  const ScopedStep at(Step::kSum);
  Random random(5);
  for (int i = 0; i < 200; ++i) {
    std::vector<Counted> counted;
    std::vector<double> terms;
    double exact = 0;  // exact: 40 numbers of 8 bits within a factor of 2^8
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
  EXPECT_EQ((Input(1) / Input(3)).error(), 0);
  EXPECT_EQ(CosSin(Input(1)).first.error(), 0);
  EXPECT_LT((Input(1) / Input(3)).Permitted(), 0x1p-74);  // a golden has 73 bits
  const ScopedStore store(DType::kF32);
  ExpectBound(Converted(Input(1) / Input(3)), 0x1p-26);
}

TEST(Counted, ClampIsExactOnlyBeyondALimit) {
  const Steps steps("*=f32");
  const Counted zero(0.0), one(1.0), third = Input(1) / Input(3);
  EXPECT_EQ(Clamp(third - Input(1), zero, one).center(), DoubleDouble(0));
  EXPECT_EQ(Clamp(third - Input(1), zero, one).Permitted(), 0);
  EXPECT_EQ(Clamp(third + Input(1), zero, one).Permitted(), 0);
  EXPECT_EQ(Clamp(third, zero, one).Permitted(), third.Permitted());
  // (1/3) 3 - 1 as computed: below 0 in some implementations and above 0 in others.
  const Counted border = third * Input(3) - Input(1);
  EXPECT_EQ(Clamp(border, zero, one).Permitted(), border.Permitted());
  const Counted below = border - Input(0x1p-30);
  EXPECT_EQ(Clamp(below, zero, one).center(), DoubleDouble(0));
  EXPECT_EQ(Clamp(below, zero, one).Permitted(), below.Permitted());
}

// `far` is 1/3 with an error of 4. `lost` is a quotient by it: any number, or NaN unless the step
// is exact.
// Where both may be the larger one, the larger error counts; else that of the larger number.
TEST(Counted, MaxErrsAsMuchAsEitherThatMayBeTheLarger) {
  const Counted two = Counted(2.0).WithError({0.5, 0.25}),
                near = Counted(1.75).WithError({1, 0.125}), far = Counted(0.25).WithError({1, 1});
  for (const Counted& y : {Max(two, near), Max(near, two)}) {
    EXPECT_EQ(y.center(), DoubleDouble(2));
    EXPECT_EQ(y.error(), 1);
    EXPECT_EQ(y.likely(), 0.25);
  }
  EXPECT_EQ(Max(far, two).error(), 0.5);
  EXPECT_EQ(Max(two, far).error(), 0.5);
  EXPECT_TRUE(std::isnan(Max(two, Counted(kNaN)).center().high));
  EXPECT_TRUE(std::isnan(Max(Counted(kNaN), two).center().high));
}

TEST(Counted, ClampLimitsErrorsOfNumbers) {
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
