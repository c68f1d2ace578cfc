#include "reference/prove/second_opinion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <concepts>
#include <string>
#include <tuple>

#include "reference/case/operations.h"
#include "reference/case/random_test.h"
#include "reference/layer/rms_norm.h"
#include "reference/number/exact/decision.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::StartsWith;

SecondOpinion OpinionOn(const Proof& proof, size_t one_in = 1) {
  return SecondOpinionOn(proof.c, proof.inputs, proof.golden, {.one_in = one_in});
}

TEST(SecondOpinion, ConfirmsEveryElementOfAGolden) {
  for (const char* line :
       {"rope pairing=half H=2 S=5 D=8 dtype=bf16 @position=random_positions",
        "rms_norm N=2 M=4 dtype=f64 eps=0 @x=1,2,3,4,0x1p-9,0,0,0 @weight=1,1,1,1",
        "softmax N=3 M=5", "activation kind=gelu N=3 F=7 dtype=f16 @x=normal(9)",
        "embedding S=3 V=4 M=5",
        "linear N=1 M=2 F=1 dtype=bf16 @x=1,0.00390625 @weight=1,1",  // a tie
        "softmax N=3 M=5 dtype.x=f8_e5m2 dtype.y=f8_e4m3fn",
        "linear N=9 M=5 F=7 dtype.y=f8_e4m3fnuz @x=normal(90)"}) {  // overflows to NaN
    const Proof proof = ProofOf(line);
    const SecondOpinion opinion = OpinionOn(proof);
    EXPECT_EQ(opinion.asked, proof.golden[0].high.data.size()) << line;
    EXPECT_EQ(opinion.confirmed, opinion.asked) << line << ": " << opinion.first;
  }
}

// The formula of the operation with a mutation: its enclosures are shifted.
struct WronglyEnclosed : RmsNorm {
  static inline double factor = 1;
  template <class Real>
  void operator()(const Tensor<Real>& x, const Tensor<Real>& weight, Tensor<Real>& y) const {
    RmsNorm::operator()(x, weight, y);
    if constexpr (std::same_as<Real, Interval>) {
      for (Interval& element : y.data) element = element + element * Interval(factor);
    }
  }
};

// A golden from wrong enclosures is consistent in itself, and a second proof gives it again. A
// golden has 73 bits.
TEST(SecondOpinion, RefutesWrongEnclosures) {
  const Case c = Case::Parse("rms_norm N=4 M=16 dtype=f64");
  const Tensors inputs = DrawInputs(c);
  for (const double factor : {1.0, 0x1p-40, 0x1p-60, 0x1p-70}) {
    WronglyEnclosed::factor = factor;
    const auto golden =
        Prove({c, inputs, ParseRecipe("native", c.dtype()), Wrapped<WronglyEnclosed>()},
              {.engine = Engine::kMpfr});
    const SecondOpinion opinion = SecondOpinionOn(c, inputs, golden);
    EXPECT_EQ(opinion.refuted, 64U) << factor;
    EXPECT_EQ(opinion.confirmed, 0U) << factor;
    EXPECT_THAT(opinion.first, StartsWith("golden/y[0,0] is "));
  }
}

TEST(SecondOpinion, RefutesEachPartOfAnElement) {
  const auto refuted = [](auto change) {
    Proof proof = ProofOf("rms_norm N=2 M=4 dtype=bf16");
    change(proof.golden[0]);
    const SecondOpinion opinion = OpinionOn(proof);
    EXPECT_EQ(opinion.confirmed + opinion.refuted, 8U);
    return opinion.refuted == 1 ? opinion.first : "";
  };
  EXPECT_THAT(
      refuted([](GoldenTensor& y) { y.value.data[6] = NextUp(DType::kBF16, y.value.data[6]); }),
      StartsWith("golden/y[1,2] is "));
  EXPECT_THAT(refuted([](GoldenTensor& y) { y.value.data[6] += 0x1p-30; }),
              StartsWith("golden/y[1,2] is "));
  EXPECT_THAT(
      refuted([](GoldenTensor& y) { y.high.data[0] = NextUp(DType::kF64, y.high.data[0]); }),
      StartsWith("golden/y[0,0] is "));
  EXPECT_THAT(refuted([](GoldenTensor& y) { y.low.data[7] += UnitOfLow(y.high.data[7]); }),
              StartsWith("golden/y[1,3] is "));
}

TEST(SecondOpinion, RefutesTheLargestNumberWhereTheValueOverflows) {
  for (const char* type : {"f16", "f8_e4m3fn"}) {
    Proof proof = ProofOf("linear N=1 M=1 F=1 @x=100000 @weight=1 dtype.y=" + std::string(type));
    EXPECT_EQ(OpinionOn(proof).confirmed, 1u) << type;
    proof.golden[0].value.data[0] = MaxFinite(proof.golden[0].dtype);
    EXPECT_EQ(OpinionOn(proof).refuted, 1u) << type;
  }
}

// The tie of the largest number and the next one, and 2^-4 or 2^-100 beside it, of both signs. The
// smaller rest is lost in high and low, which then say that it is a tie. 448 is even, the others
// are odd.
TEST(SecondOpinion, KnowsTheTieBeyondTheLargestNumber) {
  for (const auto& [type, tie, is_even] :
       {std::tuple("f16", 65520.0, false), std::tuple("f8_e5m2", 61440.0, false),
        std::tuple("f8_e4m3fn", 464.0, true), std::tuple("f8_e4m3fnuz", 248.0, false)}) {
    for (const double sign : {1.0, -1.0}) {
      for (const double rest : {-0x1p-4, -0x1p-100, 0.0, 0x1p-100, 0x1p-4}) {
        const std::string x = PrintValue(sign * tie) + "," + PrintValue(sign * rest);
        Proof proof =
            ProofOf("linear N=1 M=2 F=1 dtype=f64 @weight=1,1 @x=" + x + " dtype.y=" + type);
        EXPECT_EQ(OpinionOn(proof).confirmed, 1u) << type << " " << x;
        double& value = proof.golden[0].value.data[0];
        EXPECT_EQ(std::isfinite(value), rest < 0 || (rest == 0 && is_even)) << type << " " << x;
        const DType dtype = proof.golden[0].dtype;
        const double infinity = HasInfinity(dtype) ? sign * kInfinity : kNaN;
        value = std::isfinite(value) ? infinity : sign * MaxFinite(dtype);
        EXPECT_EQ(OpinionOn(proof).refuted, std::abs(rest) == 0x1p-4) << type << " " << x;
      }
    }
  }
}

// Unspecified elements have no value, and neither have elements without an enclosure.
TEST(SecondOpinion, EvaluatesOnlyElementsWithAnEnclosure) {
  Proof proof = ProofOf("rope pairing=interleaved H=1 S=8 D=4 seed=3 @x=nonfinite");
  size_t specified = 0;
  for (const double high : proof.golden[0].high.data) specified += !std::isnan(high);
  EXPECT_GT(specified, 0U);
  EXPECT_LT(specified, 32U);
  EXPECT_EQ(OpinionOn(proof).confirmed, specified);
  proof.golden[0].radius.data.assign(32, INFINITY);
  EXPECT_EQ(OpinionOn(proof).asked, 0U);
}

// 2^600 - 2^600 + 1: the 1 is lost in 334 bits, and the error bound covers it.
TEST(SecondOpinion, IsBeyondItsPrecisionAfterCancellation) {
  const std::string line = "linear N=1 F=1 M=3 dtype=f64 @x=0x1p600,0x1p600,1 @weight=1,-1,1";
  Proof proof = ProofOf(line);
  EXPECT_EQ(proof.golden[0].high.data[0], 1);
  const SecondOpinion opinion = OpinionOn(proof);
  EXPECT_EQ(opinion.beyond, 1U);
  EXPECT_EQ(opinion.refuted, 0U);
}

// 4 of 64 slices of one row each; the only slice of a small case.
TEST(SecondOpinion, TakesAShareOfTheSlicesAndAlwaysOne) {
  const Proof many = ProofOf("rms_norm N=64 M=64"), few = ProofOf("rms_norm N=1 M=2");
  EXPECT_EQ(OpinionOn(many).asked, 4096U);
  EXPECT_EQ(OpinionOn(many, 16).asked, 256U);
  EXPECT_EQ(OpinionOn(few, 16).asked, 2U);
}

// Zeros in the golden: a second opinion whose sums cancel is never exactly 0.
size_t ZerosOf(const Proof& proof) {
  size_t zeros = 0;
  for (const GoldenTensor& g : proof.golden) zeros += std::ranges::count(g.high.data, 0.0);
  return zeros;
}

// Only inputs whose sums cancel more than 200 bits, or whose powers overflow every format, may be
// beyond the precision of a second opinion.
TEST(SlowSecondOpinion, ConfirmsEveryOperation) {
  Random random(1);
  for (const auto& operation : AllOperations()) {
    for (int i = 0; i < 25; ++i) {
      const Proof proof = ProofOf(AnyCase(operation->info(), random).ToString());
      const std::string line = proof.c.ToString();
      const SecondOpinion opinion = OpinionOn(proof);
      EXPECT_EQ(opinion.refuted, 0U) << line << ": " << opinion.first;
      // With positions up to 2^20 the powers of xpos overflow.
      const bool has_large_powers = line.find("gamma=0.25 center=64") != line.npos &&
                                    line.find("=random_positions ") != line.npos;
      const bool extreme = has_large_powers || line.find("=special") != line.npos ||
                           line.find("=powers_of_two") != line.npos ||
                           line.find("(1099511627776)") != line.npos;
      EXPECT_TRUE(extreme || opinion.beyond <= ZerosOf(proof)) << line;
    }
  }
}

}  // namespace
}  // namespace sextant
