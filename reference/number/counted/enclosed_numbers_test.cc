#include "reference/number/counted/enclosed_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/counted/counted_span.h"
#include "reference/number/exact/decision.h"

namespace sextant {
namespace {

constexpr double kGuard = -77;

// Centres of all kinds: ties of the dtype, numbers near its limits, low halves of all sizes, and
// drifts that decide all, some or none.
Counted AnyNumber(DType dtype, Random& random) {
  double high = random.Below(6) == 0 ? SpecialValue(dtype, random) : random.Number(20);
  if (random.Below(4) == 0) high = RoundTo(dtype, high) + UlpOf(dtype, high) / 2;
  const double ulp = UlpOf(DType::kF64, high);
  const double low = random.Below(3) == 0 ? 0 : ulp * random.Uniform(-0.49, 0.49);
  const std::vector<double> drifts = {0, ulp * 0x1p-40, ulp * 0x1p-22, ulp * 4};
  const double errors[] = {0, ulp * 1e9, kInfinity};
  const double error = errors[std::min<uint64_t>(random.Below(9), 2)];
  return Counted::Of({high, low}, random.OneOf(drifts), dtype, false)
      .WithError({error, error * random.Uniform(0, 1)});
}

constexpr Settling kSettlings[] = {Settling::kProves, Settling::kProvesOrEncloses,
                                   Settling::kEncloses};

// The numbers that single elements have.
void ExpectGolden(const Counted& x, DType dtype, Settling settling, const GoldenRun& y, size_t i) {
  double value, high, low, radius;
  const size_t undecided = DecideAll({&x, 1}, dtype, {&value, &high, &low, &radius});
  const bool encloses =
      settling == Settling::kEncloses || (undecided > 0 && settling == Settling::kProvesOrEncloses);
  if (encloses) {
    value = RoundTo(dtype, x.center());
    high = x.center().high;
    low = x.center().low;
    radius = -x.drift();
  }
  EXPECT_EQ(y.value[i], value);
  EXPECT_EQ(y.high[i], high);
  EXPECT_EQ(y.low[i], low);
  EXPECT_EQ(y.radius[i], radius);
  EXPECT_EQ(y.permitted[i], x.Permitted());
  EXPECT_EQ(y.likely[i], x.Likely());
}

void ExpectSameAsSingle(size_t count, DType dtype, Settling settling, Random& random) {
  CountedArrays numbers(count);
  for (size_t i = 0; i < count; ++i) numbers.Set(i, AnyNumber(dtype, random));
  std::vector<double> y[6];
  for (auto& part : y) part.assign(count + 1, kGuard);
  std::vector<char> left(count + 1, 7);
  const GoldenRun to{y[0].data(), y[1].data(), y[2].data(), y[3].data(), y[4].data(), y[5].data()};
  const size_t undecided = SetGoldens(numbers.numbers(), count, dtype, settling, to, left);
  size_t expected_undecided = 0;
  for (size_t i = 0; i < count; ++i) {
    if (left[i]) continue;
    ExpectGolden(numbers.Get(i, dtype), dtype, settling, to, i);
    expected_undecided += std::isinf(to.radius[i]);
  }
  EXPECT_EQ(undecided, expected_undecided);
  for (const auto& part : y) EXPECT_EQ(part[count], kGuard);
  EXPECT_EQ(left[count], 7);
}

TEST(EnclosedNumbers, AreThoseOfSingleNumbers) {
  OnEveryTarget([] {
    Random random(1);
    for (const DType dtype : {DType::kF64, DType::kF32, DType::kBF16, DType::kF16}) {
      for (size_t count = 1; count <= 33; ++count) {
        for (const Settling settling : kSettlings)
          ExpectSameAsSingle(count, dtype, settling, random);
      }
      // Vectors of one have no neighbours that are left.
      for (int i = 0; i < 300; ++i) ExpectSameAsSingle(1, dtype, kSettlings[i % 3], random);
    }
  });
}

// Ordinary numbers are not left: then vectors would be of no use.
TEST(EnclosedNumbers, OrdinaryNumbersAreNotLeft) {
  OnEveryTarget([] {
    constexpr size_t kCount = 100;
    Random random(1);
    CountedArrays numbers(kCount);
    for (size_t i = 0; i < kCount; ++i) {
      const double x = random.Number(20);
      numbers.Set(i, Counted::Of({x, 0}, std::abs(x) * 0x1p-50, {}, false).WithError({1, 1}));
    }
    std::vector<double> y[6];
    for (auto& part : y) part.resize(kCount);
    std::vector<char> left(kCount);
    const GoldenRun to{y[0].data(), y[1].data(), y[2].data(),
                       y[3].data(), y[4].data(), y[5].data()};
    SetGoldens(numbers.numbers(), kCount, DType::kF32, Settling::kProvesOrEncloses, to, left);
    EXPECT_EQ(std::ranges::count(left, 1), 0);
  });
}

}  // namespace
}  // namespace sextant
