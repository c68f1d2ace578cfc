// The decisions of a run are those of its numbers.
#include "reference/number/exact/decision.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/case/random_test.h"

namespace sextant {
namespace {

// Ties, values and their neighbours in narrow types, rests near half a unit of low, and numbers
// beyond the range of double-double.
Counted AnyRounded(Random& random, DType dtype) {
  double high = random.Uniform(-4, 4);
  if (random.Below(2)) high = RoundTo(dtype, high);
  if (random.Below(3) == 0 && dtype != DType::kF64) high += UlpOf(dtype, high) / 2;  // a tie
  const int exponents[] = {0, 0, 0, -14, -24, -126, -133, -149, 15, 16, 127, 128, -900, -902, 899};
  high = std::ldexp(high, exponents[random.Below(std::size(exponents))]);
  const double unit = UnitOfLow(high);
  const double rests[] = {0,
                          unit / 2,
                          -unit / 2,
                          unit,
                          random.Uniform(-1e5, 1e5) * unit,
                          unit * (0x1p19 - 0.125),  // nearly half an ulp
                          unit * (0.125 - 0x1p19)};
  const double drifts[] = {0, unit * 0x1p-30, unit * 0x1p-2, UlpOf(DType::kF64, high)};
  const DoubleDouble center = FastTwoSum(high, rests[random.Below(std::size(rests))]);
  return Counted::Of(center, drifts[random.Below(std::size(drifts))], std::nullopt, false);
}

struct Decided {
  explicit Decided(size_t count) : value(count), high(count), low(count), radius(count) {}
  DecidedRun Run() { return {value.data(), high.data(), low.data(), radius.data()}; }
  std::vector<double> value, high, low, radius;
};

TEST(DecideAll, DecidesEachNumberAsDecide) {
  Random random(1);
  for (const DType dtype : kTensorTypes) {
    SCOPED_TRACE(NameOf(dtype));
    std::vector<Counted> numbers(8000);
    for (Counted& x : numbers) x = AnyRounded(random, dtype);
    Decided decided(numbers.size());
    const size_t undecided = DecideAll(numbers, dtype, decided.Run());
    size_t expected_undecided = 0;
    for (size_t i = 0; i < numbers.size(); ++i) {
      const auto expected = Decide(numbers[i], dtype);
      const Decision found{decided.value[i], decided.high[i], decided.low[i]};
      EXPECT_EQ(found, expected.value_or(Decision())) << numbers[i].center().high;
      EXPECT_EQ(decided.radius[i], expected ? 0 : kInfinity);
      expected_undecided += !expected;
    }
    EXPECT_EQ(undecided, expected_undecided);
    EXPECT_GT(undecided, 100u);
    EXPECT_LT(undecided, numbers.size() - 2000);
  }
}

TEST(DecideAll, KeepsNoSignOfZero) {
  const std::vector<Counted> numbers = {Counted(-0.0), Counted(-1.0)};
  Decided decided(2);
  EXPECT_EQ(DecideAll(numbers, DType::kF32, decided.Run()), 0u);
  for (const auto* part : {&decided.value, &decided.high, &decided.low, &decided.radius})
    EXPECT_FALSE(std::signbit(part->at(0)));
  EXPECT_FALSE(std::signbit(decided.low[1]));
}

}  // namespace
}  // namespace sextant
