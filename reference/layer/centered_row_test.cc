// The passes of centered_row.h against the same steps of Counted, on every instruction set.
#include "reference/layer/centered_row.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/layer/normed_row_steps.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

constexpr double kMargin = 0x1p-45;  // relative: the rounding of sums of less than 50 numbers

std::vector<double> Values(size_t count, DType dtype, Random& random) {
  std::vector<double> values;
  for (size_t j = 0; j < count; ++j)
    values.push_back(RoundTo(dtype, random.Below(9) ? random.Number(4) : 0));
  return values;
}

void ExpectNear(double found, double expected) {
  EXPECT_LE(std::abs(found - expected), std::abs(expected) * kMargin);
}

// Both enclose the exact number: their centres differ by at most both drifts.
void ExpectSame(const Counted& found, const Counted& expected) {
  ExpectNear(found.error(), expected.error());
  ExpectNear(found.likely(), expected.likely());
  const double distance = std::abs((found.center() - expected.center()).high);
  EXPECT_LE(distance, (found.drift() + expected.drift()) * (1 + 0x1p-40));
}

template <class Check>
void ForEachRow(Check check) {
  OnEveryTarget([&] {
    Random random(6);
    for (size_t count = 1; count <= 4 * kMostLanes + 1; ++count) {
      for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
        for (const char* text : {"native", "f32_compute", "exact", "native weigh=f64"}) {
          const Recipe recipe = ParseRecipe(text, dtype);
          const ScopedRecipe following(recipe, dtype);
          check(Values(count, dtype, random), dtype, random);
        }
      }
    }
  });
}

TEST(CenteredRow, TheSumIsThatOfCounted) {
  ForEachRow([](const std::vector<double>& x, DType dtype, Random&) {
    const ScopedStep at(Step::kSum);
    ExpectSame(SumOfExact({x, dtype}).Total(), SumOf(CountedOf({x, dtype})));
  });
}

TEST(CenteredRow, CentresSquaresAndTheirSumsAreThoseOfCounted) {
  ForEachRow([](const std::vector<double>& x, DType dtype, Random& random) {
    const double size = random.Number(4);
    const auto format = FormatOf(RuleOf(Step::kCenter));
    const double error = format ? std::abs(size) * 0x1p-8 : 0;
    const Counted shift =
        Counted::Of({size, size * 0x1p-60}, 0x1p-90, format, false).WithError({error, error / 2});
    CountedArrays to(x.size());
    std::vector<double> sizes(x.size());
    const StepRule center = RuleOf(Step::kCenter), square = RuleOf(Step::kSquare);
    const CenteredSums found = CenterRow({x, dtype}, shift, {center, square}, to.numbers(), sizes);
    double largest = 0, error_squares = 0, changes = 0;
    std::vector<Counted> squares;
    for (size_t j = 0; j < x.size(); ++j) {
      const Counted c = [&] {
        const ScopedStep at(Step::kCenter);
        return Counted(x[j], dtype) + shift;
      }();
      ExpectSame(to.Get(j, format), c);
      ExpectNear(sizes[j], MagnitudeOf(c));
      largest = std::max(largest, MagnitudeOf(c) + c.error());
      error_squares += c.error() * c.error();
      changes += (2 * MagnitudeOf(c) + c.error()) * c.error();
      const ScopedStep at(Step::kSquare);
      squares.push_back(c * c);
    }
    ExpectNear(found.largest, largest);
    ExpectNear(found.error_squares, error_squares);
    ExpectNear(found.changes, changes);
    const ScopedStep at(Step::kSum);
    ExpectSame(found.squares.Total(), SumOf(squares));
  });
}

TEST(CenteredRow, AddExactIsTheSumOfCounted) {
  ForEachRow([](const std::vector<double>& b, DType dtype, Random& random) {
    CountedArrays numbers(b.size());
    const auto format = FormatOf(RuleOf(Step::kWeigh));
    std::vector<Counted> before;
    for (size_t j = 0; j < b.size(); ++j) {
      const double x = random.Number(4);
      before.push_back(Counted::Of({x, x * 0x1p-60}, 0x1p-90, format, false)
                           .WithError({std::abs(x) * 0x1p-9, std::abs(x) * 0x1p-10}));
      numbers.Set(j, before.back());
    }
    ASSERT_TRUE(AddExact(b, RuleOf(Step::kBias), {numbers.numbers(), b.size(), format}));
    const ScopedStep at(Step::kBias);
    for (size_t j = 0; j < b.size(); ++j) {
      const Counted expected = before[j] + Counted(b[j], dtype);
      ExpectSame(numbers.Get(j, expected.format()), expected);
    }
  });
}

TEST(CenteredRow, AddExactLeavesRowsWithExactNumbersUnchanged) {
  CountedArrays numbers(3);
  for (size_t j = 0; j < 3; ++j) numbers.Set(j, Counted(2.0, DType::kF32));
  const std::vector<double> b = {1, 1, 1};
  const Recipe recipe = ParseRecipe("native", DType::kF32);
  const ScopedRecipe following(recipe, DType::kF32);
  EXPECT_FALSE(AddExact(b, RuleOf(Step::kBias), {numbers.numbers(), 3, DType::kF32}));
  EXPECT_EQ(numbers.Get(1, DType::kF32).center().high, 2);
}

}  // namespace
}  // namespace sextant
