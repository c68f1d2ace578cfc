// The passes over a row of softmax give the bits of their formulas, number by number, on every
// instruction set, and write nothing after the end.
#include "reference/attention/softmax_numbers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "reference/number/counted/counted_bits_test.h"

namespace sextant {
namespace {

constexpr double kSentinel = -7;
constexpr size_t kGuards = 3;

// Arrays for numbers, with guards after the end of each.
struct Guarded {
  explicit Guarded(size_t n) : count(n) {
    for (auto& array : arrays) array.assign(n + kGuards, kSentinel);
  }
  CountedNumbers numbers() {
    return {arrays[0].data(), arrays[1].data(), arrays[2].data(), arrays[3].data(),
            arrays[4].data()};
  }
  void ExpectGuards() const {
    for (const auto& array : arrays) {
      for (size_t i = count; i < array.size(); ++i) EXPECT_EQ(array[i], kSentinel);
    }
  }
  size_t count;
  std::array<std::vector<double>, 5> arrays;
};

std::vector<StepRule> Rules() {
  std::vector<StepRule> rules;
  for (const DType format : kFloatTypes) {
    for (const bool flushes : {false, true})
      rules.push_back({.format = format, .ulps = 2, .flushes = flushes});
  }
  rules.push_back({.exact = true});
  return rules;
}

// Calls check(count, rule, random) for rows around the width of vectors.
template <class Check>
void ForEachRow(Check check) {
  OnEveryTarget([&] {
    Random random(1);
    for (size_t count = 1; count <= 2 * kMostLanes + 1; ++count) {
      for (const StepRule& rule : Rules()) check(count, rule, random);
    }
  });
}

// The formulas, in the order of their operations.
double DifferenceError(const ScoreRow& row, size_t j) {
  const double high = row.scores.high[j], error = row.scores.error[j], drift = row.scores.drift[j];
  const double slack = std::abs(high) * 0x1p-50 + drift;
  const double difference =
      std::max(0.0, row.most + error + slack - high) + std::abs(row.most) * 0x1p-50;
  if (!row.tiled) return RoundingError(row.rule, difference, 0);
  const double magnitudes = 2 * (std::abs(high) * (1 + 0x1p-50) + drift) + 2 * error + difference;
  return (magnitudes + 2 * difference) * UnitRoundoffOf(row.rule.format) * kBoundUp;
}
double ExponentError(const ScoreRow& row, size_t j, const DoubleDouble& exponent) {
  const double error = row.scores.error[j];
  if (row.rule.exact || row.count == 1) return error;
  const bool exact = row.exact && row.scores.low[j] == 0 && row.largest.low == 0 &&
                     exponent.low == 0 && IsRepresentable(row.rule.format, exponent.high);
  if (exact && exponent.high == 0) return error;
  const double rounding = !exact || row.tiled ? DifferenceError(row, j) : 0;
  return error + rounding + row.exponential;
}

TEST(SoftmaxNumbers, ExponentsAreDifferencesToTheLargestScore) {
  ForEachRow([](size_t n, const StepRule& rule, Random& random) {
    for (const bool exact : {false, true}) {
      Guarded scores(n), exponents(n);
      const CountedNumbers s = scores.numbers();
      for (size_t j = 0; j < n; ++j) {
        s.high[j] = RoundTo(DType::kBF16, random.Below(3) ? random.Number(12) : 3);
        s.low[j] = exact ? 0 : s.high[j] * 0x1p-60;
        s.error[j] = exact ? 0 : random.Uniform(0, 0x1p-20);
        s.drift[j] = exact ? 0 : random.Uniform(0, 0x1p-50);
      }
      const DoubleDouble largest(*std::max_element(s.high, s.high + n));
      const ScoreRow row{n,     s,          largest, 0x1p-50, largest.high + 0x1p-18,
                         exact, n % 2 == 0, rule,    0x1p-21};
      const CountedNumbers to = exponents.numbers();
      const double drift = SetExponents(row, {to.high, to.low, to.error});
      double largest_drift = 0;
      for (size_t j = 0; j < n; ++j) {
        const DoubleDouble exponent = DoubleDouble{s.high[j], s.low[j]} - largest;
        EXPECT_EQ(to.high[j], exponent.high);
        EXPECT_EQ(to.low[j], exponent.low);
        EXPECT_EQ(to.error[j], ExponentError(row, j, exponent));
        largest_drift = std::max(largest_drift, s.drift[j] + 0x1p-50 + DriftOf(exponent, 4));
      }
      EXPECT_EQ(drift, largest_drift);
      exponents.ExpectGuards();
    }
  });
}

TEST(SoftmaxNumbers, ExponentialsAreThoseOfSingleNumbers) {
  OnEveryTarget([] {
    Random random(3);
    for (size_t n = 1; n <= 2 * kMostLanes + 1; ++n) {
      Guarded terms(n);
      const CountedNumbers t = terms.numbers();
      for (size_t j = 0; j < n; ++j)
        t.low[j] = (t.high[j] = random.Below(5) ? -std::abs(random.Number(8)) : 0) * 0x1p-55;
      const std::vector<double> high(t.high, t.high + n), low(t.low, t.low + n);
      SetExponentials({t.high, n}, {t.low, n});
      for (size_t j = 0; j < n; ++j) {
        const DoubleDouble expected = exp(DoubleDouble{high[j], low[j]});
        EXPECT_EQ(t.high[j], expected.high);
        EXPECT_EQ(t.low[j], expected.low);
      }
      terms.ExpectGuards();
    }
  });
}

double WeightShift(const WeightRow& row, size_t j) {
  const double p = row.weights.high[j], rise_j = row.rise[j], fall_j = row.fall[j];
  const double rest = (DoubleDouble(1.0) - DoubleDouble{p, row.weights.low[j]}).high;
  const double slack = (row.rise_sum + row.fall_sum) * 0x1p-50;
  const double rise = std::max(0.0, row.rise_sum - p * rise_j) + slack;
  const double fall = std::max(0.0, row.fall_sum - p * fall_j) + slack;
  const double up = p * (rise_j * rest + fall) / (std::max(0.0, rest - fall) + p * (1 + rise_j));
  const double down = p * (fall_j * rest + rise) / (rest + rise + p * (1 - fall_j));
  const double most_up = std::isnan(up) ? rest : std::min(up, rest);
  const double most_down = std::isnan(down) ? p : std::min(down, p);
  return std::max(0.0, std::max(most_up, most_down)) * kBoundUp;
}

void ExpectWeight(const WeightRow& row, size_t j) {
  const double unit = UnitRoundoffOf(row.rule.format), n = static_cast<double>(row.count);
  const DoubleDouble term{row.term_high[j], row.term_low[j]};
  const DoubleDouble p =
      row.double_centers ? DoubleDouble(term.high / row.sum.high) : term / row.sum;
  EXPECT_EQ(row.weights.high[j], p.high);
  EXPECT_EQ(row.weights.low[j], p.low);
  const double drift = p.high * row.drift * kBoundUp + kTinyDrift;
  EXPECT_EQ(row.weights.drift[j], std::isnan(drift) ? kInfinity : drift);
  const double shift = WeightShift(row, j), most = (p.high + shift) * (1 + row.common);
  const double own = row.tiled ? most * unit / (1 - unit) + UnderflowErrorOf(row.rule)
                               : RoundingError(row.rule, most, 0);
  const double rounding = row.rule.exact ? 0 : own + 2 * row.underflow * (1 + n * most);
  const double likely = (p.high + shift) * (1 + row.likely_common) * row.likely_common;
  ExpectSameNumber(row.shift[j], shift);
  ExpectSameNumber(row.rounding[j], rounding);
  ExpectSameNumber(row.weights.error[j], (shift + most * row.common + rounding) * kBoundUp);
  ExpectSameNumber(row.weights.likely[j], (shift + likely + rounding) * kBoundUp);
}

TEST(SoftmaxNumbers, WeightsHaveTheBitsOfTheirFormulas) {
  ForEachRow([](size_t n, const StepRule& rule, Random& random) {
    Guarded weights(n), terms(n), others(n);
    const CountedNumbers t = terms.numbers(), o = others.numbers();
    const double scale = random.OneOf(std::vector<double>{1e-7, 1e-3, 1, 1e6});
    for (size_t j = 0; j < n; ++j) {
      const bool special = random.Below(8) == 0;
      t.high[j] = special ? random.Below(2) * 0x1p-1050 : std::exp(-random.Uniform(0, 30));
      t.low[j] = t.high[j] * 0x1p-57;
      t.error[j] = special ? kInfinity : scale * random.Uniform(0, 1);  // rise
      t.likely[j] = special ? 1 : t.error[j] / (1 + t.error[j]);        // fall
    }
    WeightRow row{.count = n,
                  .weights = weights.numbers(),
                  .term_high = t.high,
                  .term_low = t.low,
                  .sum = DoubleDouble{1.5, 0x1p-60},
                  .rise = t.error,
                  .fall = t.likely,
                  .shift = o.high,
                  .rounding = o.low,
                  .double_centers = random.Below(2) == 0,
                  .drift = random.Below(4) ? 0x1p-49 : kInfinity,
                  .rise_sum = scale,
                  .fall_sum = scale / 2,
                  .common = scale,
                  .likely_common = scale / 4,
                  .rule = rule,
                  .underflow = rule.exact ? 0 : UnderflowErrorOf(rule),
                  .tiled = random.Below(2) == 0};
    SetWeightCenters(row);
    SetWeightErrors(row);
    for (size_t j = 0; j < n; ++j) ExpectWeight(row, j);
    weights.ExpectGuards();
    others.ExpectGuards();
  });
}

}  // namespace
}  // namespace sextant
