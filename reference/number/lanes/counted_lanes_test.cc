#include "reference/number/lanes/counted_lanes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/lanes/lane_arrays.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

constexpr const char* kRecipes[] = {
    "*=f32", "*=bf16",      "*=f16",   "*=f64",      "*=f32/4",
    "exact", "*=f32 flush", "*=T/0.5", "*=f32:erfc", "*=bf16:erf_absolute/4"};

DType AnyFormat(Random& random) { return random.OneOf(kTensorTypes); }

// An input or a constant, of a usual size.
Counted Usual(Random& random) {
  const DType format = AnyFormat(random);
  const double x = RoundTo(format, random.Number(3));
  return random.Below(3) ? Counted(x, format) : Counted(random.Number(3));
}

// The result of earlier operations: a drift and errors of any size, perhaps without a format.
Counted Computed(Random& random) {
  const double x = random.Number(random.Below(4) ? 3 : 160);
  const DoubleDouble center = TwoSum(x, x * random.Number(4) * 0x1p-60);
  const double drift = random.Below(4) ? std::abs(x) * random.Uniform(0, 0x1p-95) : 0;
  const double error = random.Below(4) ? std::abs(x) * std::abs(random.Number(30)) * 0x1p-25 : 0;
  const double likely = random.Below(2) ? error : error * random.Uniform(0, 1);
  const auto format = random.Below(2) ? std::optional(AnyFormat(random)) : std::nullopt;
  return Counted::Of(center, drift, format, random.Below(20) == 0).WithError({error, likely});
}

Counted Special(Random& random) {
  const DType format = AnyFormat(random);
  const double odd[] = {
      -0.0, kNaN, kInfinity, -kInfinity, 0x1p-1074, 0x1.8p-1060, 0x1p1000, MaxFinite(format),
      600,  -745, 0.25,      2,          27.5,      0x1p-960};
  const double x = random.Below(2) ? random.OneOf(std::span(odd)) : SpecialValue(format, random);
  Counted y = random.Below(2) ? Counted(x, format) : Counted(x);
  if (random.Below(8) == 0) y = y.WithError({kInfinity, random.Below(2) ? kInfinity : 1.0});
  if (random.Below(8) == 0) y = Counted::Of(x, std::abs(x) * 0x1p-90, {}, false);
  if (random.Below(8) == 0) y = Counted::Of({2, 0x1p-60}, 0, format, false);  // exact, two parts
  return y;
}

using Numbers = std::vector<Counted>;

// A full set of lanes. `kind` 0: usual numbers; 1: also computed ones; 2: also special ones; 3: the
// same number in each lane.
Numbers AnyNumbers(Random& random, size_t kind) {
  Numbers numbers;
  for (size_t i = 0; i < kLaneCount; ++i) {
    const size_t drawn = kind == 0 ? 0 : random.Below(kind == 1 ? 2 : 6);
    numbers.push_back(drawn == 0 ? Usual(random) : drawn == 2 ? Special(random) : Computed(random));
  }
  if (kind == 3) return Numbers(kLaneCount, numbers[0]);
  const DType common = AnyFormat(random);
  const bool is_common = random.Below(2) != 0;
  for (Counted& x : numbers) {
    if (is_common)
      x = Counted::Of(x.center(), x.drift(), common, x.saturated())
              .WithError({x.error(), x.likely()});
  }
  return numbers;
}

void ExpectEqualLanes(const CountedLanes& lanes, const std::function<Counted(size_t)>& expected) {
  for (size_t i = 0; i < kLaneCount; ++i) {
    SCOPED_TRACE(i);
    ExpectSameBits(lanes[i], expected(i));
  }
}

// Checks each operation with these operands in each lane.
void ExpectOperationsOf(const Numbers& x, const Numbers& y, const Numbers& z) {
  const CountedLanes a{std::span(x)}, b{std::span(y)}, c{std::span(z)};
  const auto expect = [&](const char* name, const CountedLanes& lanes, auto single) {
    SCOPED_TRACE(name);
    ExpectEqualLanes(lanes, [&](size_t i) { return single(x[i], y[i], z[i]); });
  };
  expect("loaded", a, [](auto& p, auto&, auto&) { return p; });
  expect("+", a + b, [](auto& p, auto& q, auto&) { return p + q; });
  expect("*", a * b, [](auto& p, auto& q, auto&) { return p * q; });
  expect("-", -a, [](auto& p, auto&, auto&) { return -p; });
  expect("Converted", Converted(a), [](auto& p, auto&, auto&) { return Converted(p); });
  expect("Clamp", Clamp(a, b, c), [](auto& p, auto& q, auto& r) { return Clamp(p, q, r); });
  expect("Tanh", Tanh(a), [](auto& p, auto&, auto&) { return Tanh(p); });
  expect("Sigmoid", Sigmoid(a), [](auto& p, auto&, auto&) { return Sigmoid(p); });
  expect("Erf", Erf(a), [](auto& p, auto&, auto&) { return Erf(p); });
  expect("Erfc", Erfc(a), [](auto& p, auto&, auto&) { return Erfc(p); });
  expect("AroundCenterOf", a.AroundCenterOf(b),
         [](auto& p, auto& q, auto&) { return p.AroundCenterOf(q); });
}

TEST(CountedLanes, EachLaneHasTheBitsOfCounted) {
  OnEveryTarget([] {
    Random random(1);
    for (const std::string recipe : kRecipes) {
      SCOPED_TRACE(recipe);
      const ScopedRecipe following(ParseRecipe(recipe, DType::kF32), DType::kF32);
      const ScopedStep at(Step::kActivation);
      for (size_t kind = 0; kind < 4; ++kind) {
        ExpectOperationsOf(AnyNumbers(random, kind), AnyNumbers(random, random.Below(4)),
                           AnyNumbers(random, random.Below(4)));
        if (testing::Test::HasFailure()) return;
      }
    }
  });
}

// Numbers whose errors reach the subnormal numbers.
TEST(CountedLanes, AStepThatFlushesAddsItsErrors) {
  const ScopedRecipe following(ParseRecipe("*=f32 flush", DType::kF32), DType::kF32);
  const ScopedStep at(Step::kActivation);
  const Counted x = Counted::Of(0x1.8p-90, 0x1p-190, DType::kF32, false);
  const Numbers numbers(kLaneCount, x.WithError({0x1p-89, 0x1p-89}));
  ExpectOperationsOf(numbers, numbers, numbers);
}

TEST(CountedLanes, AShortSpanIsRepeatedAndNothingElseIsWritten) {
  Random random(1);
  for (const size_t count : {1, 2, 7, 8, 9, 63, 64}) {
    Numbers numbers = AnyNumbers(random, 2);
    const CountedLanes lanes{std::span(numbers).first(count)};
    for (size_t i = 0; i < kLaneCount; ++i)
      ExpectSameBits(lanes[i], numbers[std::min(i, count - 1)]);
    Numbers copy(kLaneCount + 1, Counted(77));
    lanes.CopyTo(std::span(copy).first(count));
    for (size_t i = 0; i < copy.size(); ++i)
      ExpectSameBits(copy[i], i < count ? numbers[i] : Counted(77));
  }
}

constexpr uint64_t kAll = ~uint64_t{0};

LaneArrays Arrays(double first, double step, double error, double drift) {
  LaneArrays x;
  for (size_t i = 0; i < kLaneCount; ++i) {
    x.high[i] = first + step * static_cast<double>(i);
    x.low[i] = drift == 0 ? 0 : x.high[i] * 0x1p-60;
    x.error[i] = x.likely[i] = error;
    x.drift[i] = drift;
  }
  return x;
}

// Vectors compute inputs and computed numbers of usual sizes, exact products, and powers of two.
TEST(CountedLanes, VectorsComputeOrdinaryLanes) {
  const StepRule f32{.format = DType::kF32}, exact{.exact = true};
  const LaneArrays input = Arrays(-4.125, 0.15625, 0, 0), two = Arrays(2, 0, 0, 0);
  const LaneArrays computed = Arrays(-3.3, 0.1, 0x1p-22, 0x1p-100);
  const LaneArrays least = Arrays(-1.01, 0, 0, 0), most = Arrays(1.01, 0, 0, 0);
  OnEveryTarget([&] {
    LaneArrays y;
    for (const StepRule& step : {f32, exact}) {
      const LaneRule rule(step);
      for (const LaneArrays* x : {&input, &computed}) {
        for (const bool are_values : {false, true}) {
          const LaneOperand a{*x, are_values}, b{two, are_values}, c{computed, are_values};
          for (const LaneOperand& other : {b, c}) {
            EXPECT_EQ(MultiplyLanes(rule, a, other, y), kAll);
            EXPECT_EQ(AddLanes(rule, a, other, y), kAll);
          }
          EXPECT_EQ(ConvertLanes(rule, a, y), kAll);
          EXPECT_EQ(TanhLanes(rule, a, y), kAll);
          EXPECT_EQ(SigmoidLanes(rule, a, y), kAll);
          EXPECT_EQ(ErfLanes(rule, a, y), kAll);
          EXPECT_EQ(ErfcLanes(rule, a, y), kAll);
        }
        EXPECT_EQ(ClampLanes(*x, least, most, y).right, kAll);
      }
    }
  });
}

// In arrays of any length, with special cases, in each format.
TEST(CountedLanes, ConvertAllConvertsEachNumber) {
  OnEveryTarget([] {
    Random random(7);
    for (const char* text : {"*=f32", "*=bf16", "*=f16 flush", "exact"}) {
      const Recipe recipe = ParseRecipe(text, DType::kF32);
      const ScopedRecipe following(recipe, DType::kF32);
      const ScopedStep at(Step::kActivation);
      for (const size_t count : {size_t{1}, kLaneCount - 1, kLaneCount, 2 * kLaneCount + 3}) {
        CountedArrays numbers(count);
        std::vector<Counted> expected;
        for (size_t i = 0; i < count; ++i) {
          const double x = random.Below(5) ? random.Number(3) : SpecialValue(DType::kF16, random);
          numbers.Set(i, Counted(RoundTo(DType::kF64, x), DType::kF64));
          expected.push_back(Converted(numbers.Get(i, DType::kF64)));
        }
        ConvertAll({numbers.numbers(), count, DType::kF64});
        for (size_t i = 0; i < count; ++i) {
          const Counted found = numbers.Get(i, expected[i].format());
          EXPECT_EQ(found.center().high, expected[i].center().high);
          EXPECT_EQ(found.error(), expected[i].error());
          EXPECT_EQ(found.likely(), expected[i].likely());
          EXPECT_EQ(found.drift(), expected[i].drift());
        }
      }
    }
  });
}

}  // namespace
}  // namespace sextant
