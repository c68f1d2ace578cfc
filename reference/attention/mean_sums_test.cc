// Means of many columns give the same bits as one mean after the other, on every instruction set.
#include "reference/attention/mean_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "reference/attention/softmax_row.h"
#include "reference/case/random_test.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/recipe/recipe.h"

namespace sextant {
namespace {

using Numbers = std::vector<Counted>;

struct Problem {
  DType dtype;
  std::vector<double> scores;
  size_t width;
  size_t sinks = 0;  // of the scores
};

std::vector<double> Scores(DType dtype, size_t count, double spread) {
  Random random(count);
  std::vector<double> scores;
  for (size_t j = 0; j < count; ++j)
    scores.push_back(RoundTo(dtype, spread * random.Uniform(-1, 1)));
  return scores;
}

// Ordinary numbers, zeros, and numbers near the limits of the format.
double AnyValue(DType dtype, Random& random) {
  const double special[] = {0, MinSubnormal(dtype), -MinSubnormal(dtype), MaxFinite(dtype) / 4};
  return random.Below(9) ? RoundTo(dtype, random.Uniform(-2, 2)) : special[random.Below(4)];
}

void ExpectEqualPaths(const Problem& p, const char* recipe_name) {
  const Recipe recipe = ParseRecipe(recipe_name, p.dtype);
  const ScopedRecipe following(recipe, p.dtype);
  Random random(p.scores.size() + p.width);
  const size_t count = p.scores.size() - p.sinks;
  Numbers scores, values;
  for (const double score : p.scores) scores.emplace_back(score, p.dtype);
  for (size_t i = 0; i < (count + 2) * p.width; ++i)
    values.emplace_back(AnyValue(p.dtype, random), p.dtype);
  std::vector<size_t> keys;  // rows 1, 2, ...
  for (size_t j = 0; j < count; ++j) keys.push_back(j + 1);
  const SoftmaxRow<Counted> row(scores, Tiling::kAny);
  Numbers means(p.width);
  row.Means(ValueRows<Counted>(values, count + 2), keys, means);
  for (size_t e = 0; e < p.width; ++e) {
    Numbers column(scores.size());
    for (size_t j = 0; j < count; ++j) column[j] = values[keys[j] * p.width + e];
    SCOPED_TRACE(e);
    ExpectSameBits(means[e], row.Mean(column));
  }
}

TEST(SoftmaxMeans, GiveTheBitsOfSingleMeans) {
  OnEveryTarget([] {
    for (const char* recipe : {"native", "all_native", "exact"}) {
      for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16, DType::kF64}) {
        for (const size_t width : {1, 7, 8, 9, 33}) {
          ExpectEqualPaths({dtype, {1.5}, width}, recipe);
          ExpectEqualPaths({dtype, Scores(dtype, 20, 3), width}, recipe);
          ExpectEqualPaths({dtype, Scores(dtype, 20, 3), width, 1}, recipe);
          ExpectEqualPaths({dtype, {0, -800, -1}, width}, recipe);  // a weight is 0
          ExpectEqualPaths({dtype, {0, -700, -1}, width}, recipe);  // one is below 2^-900
        }
      }
    }
  });
}

// Otherwise the test above would compare one path with itself.
TEST(SoftmaxMeans, ValuesOfNarrowFormatsArePlain) {
  const Recipe recipe = ParseRecipe("native", DType::kF32);
  const ScopedRecipe following(recipe, DType::kF32);
  const Numbers values(6, Counted(0.5, DType::kF32));
  const ValueRows<Counted> rows(values, 2);
  EXPECT_EQ(rows.PlainWidth(), kMeanColumns);
  EXPECT_EQ(rows.Plain(1)[2], 0.5);
  EXPECT_EQ(rows.Plain(1)[3], 0);
  EXPECT_EQ(ValueRows<Counted>(Numbers(6, Counted(0.5)), 2).PlainWidth(), kMeanColumns);
  EXPECT_EQ(ValueRows<Counted>(Numbers(6, Counted(kNaN)), 2).PlainWidth(), 0U);
}

}  // namespace
}  // namespace sextant
