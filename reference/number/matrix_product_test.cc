// Products with weights are those of Dot, on every instruction set and any number of threads.
#include "reference/number/matrix_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/dot/counted_dot.h"
#include "reference/number/real.h"
#include "reference/number/recipe/in_parallel_here.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant {
namespace {

void ExpectSame(const Counted& a, const Counted& b) { ExpectSameBits(a, b); }
void ExpectSame(const Rounded& a, const Rounded& b) {
  ExpectSameNumber(a.value(), b.value());
  EXPECT_TRUE(std::isnan(a.value()) || std::signbit(a.value()) == std::signbit(b.value()));
}
void ExpectSame(const Interval& a, const Interval& b) {
  EXPECT_TRUE(mpfr_equal_p(a.lower().get(), b.lower().get()));
  EXPECT_TRUE(mpfr_equal_p(a.upper().get(), b.upper().get()));
}
void ExpectSame(const BoostReal& a, const BoostReal& b) { EXPECT_EQ(a.High(), b.High()); }

// Ordinary numbers, powers of two, zeros, and with `extreme` numbers near the limits.
double AnyWeight(DType dtype, Random& random, bool extreme) {
  switch (random.Below(extreme ? 9 : 6)) {
    case 0:
      return 0;
    case 1:
      return std::ldexp(random.Below(2) ? 1.0 : -1.0, static_cast<int>(random.Below(9)) - 4);
    case 6:
      return MinSubnormal(dtype);
    case 7:
      return MaxFinite(dtype);
    case 8:
      return random.Below(8) ? MinNormal(dtype) : random.Below(2) ? kInfinity : kNaN;
    default:
      return RoundTo(dtype, random.Uniform(-3, 3));
  }
}

// Exact numbers of the dtype, and numbers with a centre between them, an error and a drift.
Counted AnyCounted(DType dtype, Random& random, bool extreme) {
  const double high = random.Below(9) ? random.Number(3) : 0;
  const DoubleDouble center = FastTwoSum(high, high * random.Uniform(-0x1p-54, 0x1p-54));
  const double error = random.Below(3) ? std::abs(random.Number(4)) * 0x1p-6 : 0;
  const double drift = std::abs(random.Number(4)) * 0x1p-100;
  const Counted x = Counted::Of(center, drift, dtype, random.Below(9) == 0)
                        .WithError({error, random.Below(2) ? error : error / 8});
  switch (random.Below(extreme ? 9 : 5)) {
    case 0:
    case 1:
      return Counted(AnyWeight(dtype, random, extreme), dtype);
    case 2:
      return Counted(high);  // converting it is an error
    case 6:
      return x.WithError({kInfinity, random.Below(2) ? kInfinity : error});
    case 7:
      return Counted::Of(center * 0x1p-120, drift * 0x1p-120, dtype, false).WithError({1, 1});
    case 8:
      return random.Below(8) ? Counted::Of(0x1p-1000, 0, dtype, false).WithError({1, 1})
                             : Counted::Of(center, kInfinity, dtype, false);
    default:
      return x;
  }
}

template <class Real>
Real AnyNumber(DType dtype, Random& random, bool extreme) {
  if constexpr (std::same_as<Real, Counted>) {
    return AnyCounted(dtype, random, extreme);
  } else {
    return Real(AnyWeight(dtype, random, extreme), dtype);
  }
}

struct Sizes {
  size_t rows, width, columns;
};

template <class Real>
void ExpectDots(DType dtype, const Sizes& n, bool extreme, uint64_t seed) {
  Random random(seed);
  Tensor<Real> x({n.rows, n.width}), y({n.rows, n.columns});
  for (Real& number : x.data) number = AnyNumber<Real>(dtype, random, extreme);
  NamedTensor weight{"weight", dtype, Tensor<double>({n.columns, n.width})};
  for (double& number : weight.values.data) number = AnyWeight(dtype, random, extreme);
  const Weights<Real> weights(weight);
  MultiplyByWeights(x, weights, y);
  for (size_t i = 0; i < n.rows; ++i) {
    for (size_t j = 0; j < n.columns; ++j) {
      SCOPED_TRACE(std::to_string(i) + "," + std::to_string(j));
      const auto row = std::span<const Real>(x.data).subspan(i * n.width, n.width);
      const std::vector<Real> column = weights.RowOf(j);
      ExpectSame(y(i, j), Dot(DotOperand<Real>(row), DotOperand<Real>(column)));
    }
  }
}

constexpr Sizes kSizes[] = {{1, 1, 1},  {2, 7, 3},  {3, 64, 15}, {1, 33, 16},
                            {2, 2, 17}, {1, 5, 40}, {2, 0, 3},   {0, 4, 2}};

TEST(MultiplyByWeights, GivesTheBoundsOfDot) {
  OnEveryTarget([] {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kF64}) {
      for (const char* name : {"native", "all_native", "exact", "native flush"}) {
        const Recipe recipe = ParseRecipe(name, dtype);
        const ScopedRecipe following(recipe, dtype);
        SCOPED_TRACE(std::string(name) + " " + std::string(NameOf(dtype)));
        for (const Sizes& n : kSizes) {
          ExpectDots<Counted>(dtype, n, false, n.width);
          ExpectDots<Counted>(dtype, n, true, n.width);
        }
      }
    }
  });
}

TEST(MultiplyByWeights, GivesTheRoundedNumbersOfDot) {
  OnEveryTarget([] {
    for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF64}) {
      for (const char* name : {"native", "all_native", "exact", "native dot=f32:tensor_core",
                               "native dot=f32:pairwise", "native dot=f32:sequential"}) {
        const Recipe recipe = ParseRecipe(name, dtype);
        const ScopedRecipe following(recipe, dtype);
        for (const Sizes& n : kSizes) {
          ExpectDots<Rounded>(dtype, n, false, n.width);
          ExpectDots<Rounded>(dtype, n, true, n.width);
        }
      }
    }
  });
}

TEST(MultiplyByWeights, AddsInTheOrderOfDot) {
  using Kind = SumOrder::Kind;
  constexpr SumOrder kOrders[] = {
      {Kind::kBackwards, 1}, {Kind::kLargestFirst, 1}, {Kind::kHalves, 1}, {Kind::kLanes, 4},
      {Kind::kLanes, 64},    {Kind::kBlocks, 8},       {Kind::kBlocks, 64}};
  OnEveryTarget([&] {
    for (const char* name : {"native", "native dot=f32:sequential"}) {
      const Recipe recipe = ParseRecipe(name, DType::kF32);
      const ScopedRecipe following(recipe, DType::kF32);
      for (const SumOrder& order : kOrders) {
        SCOPED_TRACE(static_cast<int>(order.kind));
        const ScopedSumOrder in_order(order);
        for (const Sizes& n : kSizes) ExpectDots<Rounded>(DType::kF32, n, n.width % 2, n.width);
      }
    }
  });
}

TEST(MultiplyByWeights, GivesTheEnclosuresOfDot) {
  for (const Sizes& n : kSizes) {
    ExpectDots<Interval>(DType::kF32, n, false, n.width);
    ExpectDots<BoostReal>(DType::kF32, n, false, n.width);
  }
}

TEST(MultiplyByWeights, ShortSumsAreRoundedStochasticallyOneByOne) {
  const Recipe recipe = ParseRecipe("native", DType::kBF16);
  const ScopedRecipe following(recipe, DType::kBF16);
  const ScopedStochasticRounding rounding(7);
  ExpectDots<Rounded>(DType::kBF16, {2, 64, 17}, false, 1);
  ExpectDots<Rounded>(DType::kBF16, {1, 511, 2}, false, 1);
}

// Otherwise the tests above would compare one path with itself.
TEST(MultiplyByWeights, NumbersWithErrorsHaveAFastPath) {
  const Recipe recipe = ParseRecipe("native", DType::kBF16);
  const ScopedRecipe following(recipe, DType::kBF16);
  const Counted x = Counted::Of({1.25, 0x1p-60}, 0x1p-100, DType::kBF16, false).WithError({1, 1});
  const std::vector<Counted> row = {x, Counted(3, DType::kBF16), x.WithError({kInfinity, 1})};
  PlainBlock block{std::vector<float>(3 * kPlainRows, 1.5), {}};
  block.numbers[3] = 0;                   // an ordinary special case
  block.numbers[2 * kPlainRows + 5] = 0;  // 0 times an unbounded number
  block.numbers[7] = static_cast<float>(MinSubnormal(DType::kBF16));
  const auto products = CountedRow(row).Times(block);
  for (size_t j = 0; j < kPlainRows; ++j) EXPECT_EQ(products[j].has_value(), j != 5 && j != 7) << j;
}

// y of an evaluation on that many threads.
template <class Real>
std::vector<Real> ProductOn(int threads) {
  const Recipe recipe = ParseRecipe("native", DType::kBF16);
  const ScopedRecipe following(recipe, DType::kBF16);
  const ScopedStochasticRounding rounding(3);
  const ScopedThreads inside(threads);
  Random random(1);
  Tensor<Real> x({3, 600}), y({3, 100});
  for (Real& number : x.data) number = AnyNumber<Real>(DType::kBF16, random, false);
  NamedTensor weight{"weight", DType::kBF16, Tensor<double>({100, 600})};
  for (double& number : weight.values.data) number = AnyWeight(DType::kBF16, random, false);
  MultiplyByWeights(x, Weights<Real>(weight), y);
  return y.data;
}

template <class Real>
void ExpectSameOnAnyThreads() {
  const std::vector<Real> alone = ProductOn<Real>(1);
  for (const int threads : {2, 5}) {
    const std::vector<Real> together = ProductOn<Real>(threads);
    for (size_t i = 0; i < alone.size(); ++i) ExpectSame(alone[i], together[i]);
  }
}

TEST(MultiplyByWeights, DoesNotDependOnTheNumberOfThreads) {
  ExpectSameOnAnyThreads<Counted>();
  ExpectSameOnAnyThreads<Rounded>();
}

}  // namespace
}  // namespace sextant
