// Level 1 of a row of softmax: the numbers of level 2 up to a few last bits, on every instruction
// set, and nothing is written after the end.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "reference/attention/softmax_numbers.h"
#include "reference/number/counted/counted_bits_test.h"
#include "reference/number/double_double/elementary.h"

namespace sextant {
namespace {

constexpr double kScoreGuard = -7;
constexpr size_t kScoreGuards = 3;

// The arrays of a row of n scores, with guards after the end of each.
struct Row {
  Row(size_t n, Random& random) : count(n) {
    for (auto* const array : All()) array->assign(n + kScoreGuards, kScoreGuard);
    for (size_t j = 0; j < n; ++j) {
      high[j] = random.Below(4) ? -std::min(599.0, std::abs(random.Number(9))) : 0;
      low[j] = high[j] * 0x1p-60;
      error[j] = random.Below(2) ? random.Uniform(0, 0x1p-9) : 0;
      drift[j] = random.Uniform(0, 0x1p-60);
    }
    high[random.Below(n)] = 0;  // the largest
  }
  std::vector<std::vector<double>*> All() {
    return {&high, &low, &error, &drift, &term, &rise, &fall, &p, &p_low, &of, &likely, &of_drift};
  }
  ScoreRow Scores() {
    return {count,  {high.data(), low.data(), error.data(), error.data(), drift.data()},
            {},     0x1p-70,
            0,      false,
            false,  rule,
            0x1p-22};
  }
  TermRow Terms() { return {term.data(), rise.data(), fall.data()}; }
  CountedNumbers Weights() {
    return {p.data(), p_low.data(), of.data(), likely.data(), of_drift.data()};
  }
  void ExpectGuards() {
    for (auto* const array : All()) {
      for (size_t i = count; i < array->size(); ++i) EXPECT_EQ((*array)[i], kScoreGuard);
    }
  }
  size_t count;
  StepRule rule{.format = DType::kF32, .ulps = 2};
  std::vector<double> high, low, error, drift, term, rise, fall, p, p_low, of, likely, of_drift;
};

// Calls check(row) for rows around the width of vectors.
template <class Check>
void ForEachScoreRow(Check check) {
  OnEveryTarget([&] {
    Random random(1);
    for (size_t n = 2; n <= 2 * kMostLanes + 1; ++n) {
      for (int i = 0; i < 20; ++i) {
        Row row(n, random);
        check(row, random);
        row.ExpectGuards();
      }
    }
  });
}

void ExpectNear(double found, double expected, double relative) {
  EXPECT_LE(std::abs(found - expected), std::abs(expected) * relative) << found;
}

TEST(SoftmaxDoubles, TermsAreThoseOfLevel2) {
  ForEachScoreRow([](Row& row, Random&) {
    const TermTotals totals = SetTermsOfDoubles(row.Scores(), row.Terms());
    std::vector<double> high(row.count), low(row.count), errors(row.count);
    const double drift = SetExponents(row.Scores(), {high.data(), low.data(), errors.data()});
    EXPECT_TRUE(totals.valid);
    DoubleDouble sum;
    double rise = 0, fall = 0;
    for (size_t j = 0; j < row.count; ++j) {
      ExpectNear(row.term[j], exp(DoubleDouble{high[j], low[j]}).high, 0x1p-49);
      ExpectNear(row.rise[j], Expm1Of(errors[j]) * kBoundUp, 0x1p-48);
      ExpectNear(row.fall[j], -Expm1Of(-errors[j]) * kBoundUp, 0x1p-48);
      sum = sum + DoubleDouble(row.term[j]);
      rise += row.term[j] * row.rise[j];
      fall += row.term[j] * row.fall[j];
    }
    EXPECT_LE(std::abs((totals.sum - sum).high), totals.rounding + sum.high * 0x1p-100);
    EXPECT_LE(totals.rounding, sum.high * 0x1p-90);
    EXPECT_GE(totals.rise, rise * (1 - 0x1p-52));
    EXPECT_GE(totals.fall, fall * (1 - 0x1p-52));
    ExpectNear(totals.rise, rise, 0x1p-45);
    ExpectNear(totals.fall, fall, 0x1p-45);
    EXPECT_GE(totals.drift, drift);
    EXPECT_LE(totals.drift, drift + 0x1p-50);
  });
}

TEST(SoftmaxDoubles, LeavesLargeErrors) {
  ForEachScoreRow([](Row& row, Random& random) {
    const size_t j = random.Below(row.count);
    (random.Below(2) ? row.error : row.drift)[j] = random.OneOf(std::vector{2.0, kInfinity, kNaN});
    EXPECT_FALSE(SetTermsOfDoubles(row.Scores(), row.Terms()).valid);
  });
}

TEST(SoftmaxDoubles, WeightsAreThoseOfTheOtherFunctions) {
  ForEachScoreRow([](Row& row, Random& random) {
    const TermTotals totals = SetTermsOfDoubles(row.Scores(), row.Terms());
    std::vector<double> expected(7 * row.count);
    double* const to = expected.data();
    const size_t n = row.count;
    WeightRow weights{.count = n,
                      .weights = row.Weights(),
                      .term_high = row.term.data(),
                      .term_low = to + 6 * n,
                      .sum = totals.sum,
                      .rise = row.rise.data(),
                      .fall = row.fall.data(),
                      .shift = nullptr,
                      .rounding = nullptr,
                      .double_centers = true,
                      .drift = 0x1p-48,
                      .rise_sum = totals.rise / totals.sum.high,
                      .fall_sum = totals.fall / totals.sum.high,
                      .common = 0x1p-20,
                      .likely_common = 0x1p-22,
                      .rule = row.rule,
                      .underflow = 0,
                      .tiled = random.Below(2) == 0};
    SetWeightsOfDoubles(weights);
    weights.weights = {to, to + n, to + 2 * n, to + 3 * n, to + 4 * n};
    SetWeightCenters(weights);
    SetWeightErrors(weights);
    for (size_t j = 0; j < n; ++j) {
      ExpectNear(row.p[j], to[j], 0x1p-51);
      EXPECT_EQ(row.p_low[j], 0);
      ExpectNear(row.of[j], to[2 * n + j], 0x1p-40);
      ExpectNear(row.likely[j], to[3 * n + j], 0x1p-40);
      ExpectNear(row.of_drift[j], to[4 * n + j], 0x1p-50);
    }
  });
}

TEST(SoftmaxDoubles, RangeHasTheLeastAndTheLargest) {
  ForEachScoreRow([](Row& row, Random&) {
    const std::span scores(row.high.data(), row.count);
    const Range range = RangeOf(scores);
    EXPECT_EQ(range.least, *std::ranges::min_element(scores));
    EXPECT_EQ(range.most, *std::ranges::max_element(scores));
  });
}

}  // namespace
}  // namespace sextant
