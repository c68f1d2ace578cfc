#include "oracle/diagnosis/answer/scaled_numbers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "oracle/diagnosis/answer/planted_tensor_test.h"

namespace sextant::oracle {
namespace {

using testing::Optional;
using testing::StartsWith;

// A tensor [12,8] of right numbers near 1, and what is found in f(right number, row, column).
std::optional<std::string> ScaleFoundIn(
    const std::function<double(double right, size_t row, size_t column)>& f) {
  constexpr size_t kColumns = 8;
  PlantedTensor tensor{DType::kF64, 12, kColumns, 1e-12};
  for (size_t i = 0; i < 96; ++i) {
    const double right = 1 + std::sin(static_cast<double>(i * i)) / 2;
    tensor.Add(right, f(right, i / kColumns, i % kColumns));
  }
  const auto found = FindScaled(tensor.Answered());
  return found ? std::optional(found->name + ": " + found->sentence) : std::nullopt;
}

TEST(FindScaled, NamesOneFactorAndItsPlace) {
  EXPECT_EQ(
      ScaleFoundIn([](double x, size_t, size_t column) { return column >= 6 ? 1.25 * x : x; }),
      "numbers_multiplied: y is 1.25 times the right number at M 6 to 7");
}

TEST(FindScaled, NamesOneSummand) {
  EXPECT_EQ(ScaleFoundIn([](double x, size_t, size_t) { return x + 0.5; }),
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
  EXPECT_EQ(
      ScaleFoundIn([&](double x, size_t row, size_t) { return x / std::sqrt(squares(row) / 8); }),
      "rows_normed: each row of y is divided by its root mean square");
  // One row is not.
  EXPECT_THAT(ScaleFoundIn([&](double x, size_t row, size_t) {
                return row == 3 ? 2 * x : x / std::sqrt(squares(row) / 8);
              }),
              Optional(StartsWith("rows_multiplied")));
}

TEST(FindScaled, ListsNumbersOfRowsAndOfColumns) {
  EXPECT_THAT(ScaleFoundIn([](double x, size_t row, size_t) {
                return x * (2 + std::cos(static_cast<double>(row)));
              }),
              Optional(StartsWith("rows_multiplied: each row of y is multiplied by a number of its "
                                  "own: row 0 by 3")));
  EXPECT_THAT(ScaleFoundIn([](double x, size_t, size_t column) {
                return x + 2 + std::cos(static_cast<double>(column));
              }),
              Optional(StartsWith("columns_shifted: each column of y is shifted by a number of its "
                                  "own: column 0 by 3")));
}

// A format changes numbers by so much.
TEST(FindScaled, SaysNothingOfSmallFactors) {
  EXPECT_EQ(ScaleFoundIn([](double x, size_t, size_t) { return 1.01 * x; }), std::nullopt);
}

TEST(FindScaled, SaysNothingOfOtherNumbers) {
  EXPECT_EQ(ScaleFoundIn([](double x, size_t row, size_t column) {
              return x + std::sin(static_cast<double>(row * 8 + column));
            }),
            std::nullopt);
}

}  // namespace
}  // namespace sextant::oracle
