#include "oracle/diagnosis/scaled_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace sextant::oracle {
namespace {

using testing::Optional;
using testing::StartsWith;

// A tensor [12,8] of right numbers near 1, and what is found in f(right number, row, column).
std::optional<std::string> FoundIn(
    const std::function<double(double right, size_t row, size_t column)>& f) {
  constexpr size_t kRows = 12, kColumns = 8, kCount = kRows * kColumns;
  std::vector<double> right, got;
  std::vector<size_t> failing;
  for (size_t i = 0; i < kCount; ++i) {
    right.push_back(1 + std::sin(static_cast<double>(i * i)) / 2);
    got.push_back(f(right[i], i / kColumns, i % kColumns));
    if (got[i] != right[i]) failing.push_back(i);
  }
  const AnsweredTensor tensor{"y",
                              DType::kF64,
                              {kRows, kColumns},
                              {{"N", 1, kRows, kColumns}, {"M", kRows, kColumns, 1}},
                              got,
                              right,
                              std::vector<double>(kCount, 1e-12),
                              failing,
                              std::vector<char>(kCount)};
  const auto found = FindScaled(tensor);
  return found ? std::optional(found->name + ": " + found->sentence) : std::nullopt;
}

TEST(FindScaled, NamesOneFactorAndItsPlace) {
  EXPECT_EQ(FoundIn([](double x, size_t, size_t column) { return column >= 6 ? 1.25 * x : x; }),
            "numbers_multiplied: y is 1.25 times the right number at M 6 to 7");
}

TEST(FindScaled, NamesOneSummand) {
  EXPECT_EQ(FoundIn([](double x, size_t, size_t) { return x + 0.5; }),
            "numbers_shifted: y is the right number plus 0.5");
}

TEST(FindScaled, NamesTheNormOfRows) {
  const auto right = [](size_t row, size_t column) {
    const size_t i = row * 8 + column;
    return 1 + std::sin(static_cast<double>(i * i)) / 2;
  };
  const auto squares = [&](size_t row) {
    double sum = 0;
    for (size_t column = 0; column < 8; ++column) sum += right(row, column) * right(row, column);
    return sum;
  };
  EXPECT_EQ(FoundIn([&](double x, size_t row, size_t) { return x / std::sqrt(squares(row) / 8); }),
            "rows_normed: each row of y is divided by its root mean square");
  // One row is not.
  EXPECT_THAT(FoundIn([&](double x, size_t row, size_t) {
                return row == 3 ? 2 * x : x / std::sqrt(squares(row) / 8);
              }),
              Optional(StartsWith("rows_multiplied")));
}

TEST(FindScaled, ListsNumbersOfRowsAndOfColumns) {
  EXPECT_THAT(FoundIn([](double x, size_t row, size_t) {
                return x * (2 + std::cos(static_cast<double>(row)));
              }),
              Optional(StartsWith("rows_multiplied: each row of y is multiplied by a number of its "
                                  "own: row 0 by 3")));
  EXPECT_THAT(FoundIn([](double x, size_t, size_t column) {
                return x + 2 + std::cos(static_cast<double>(column));
              }),
              Optional(StartsWith("columns_shifted: each column of y is shifted by a number of its "
                                  "own: column 0 by 3")));
}

// A format changes numbers by so much.
TEST(FindScaled, SaysNothingOfSmallFactors) {
  EXPECT_EQ(FoundIn([](double x, size_t, size_t) { return 1.01 * x; }), std::nullopt);
}

TEST(FindScaled, SaysNothingOfOtherNumbers) {
  EXPECT_EQ(FoundIn([](double x, size_t row, size_t column) {
              return x + std::sin(static_cast<double>(row * 8 + column));
            }),
            std::nullopt);
}

}  // namespace
}  // namespace sextant::oracle
