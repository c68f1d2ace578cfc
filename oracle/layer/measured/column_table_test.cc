#include "oracle/layer/measured/column_table.h"

#include <gtest/gtest.h>

#include <functional>

namespace sextant::oracle {
namespace {

const std::vector<double> kRight = {0.3, -1.2, 0.7, 2.1, -0.4, 1.6, 0.9, -0.8};
constexpr double kError = 1e-3;

std::optional<NamedTable> Named(const std::function<double(size_t)>& at,
                                const std::vector<double>& factors = {}) {
  std::vector<MeasuredNumber> measured;
  for (size_t j = 0; j < kRight.size(); ++j) measured.push_back({at(j), kError});
  return NameTable(measured, kRight, factors, "bias");
}
std::string Sentence(const std::function<double(size_t)>& at,
                     const std::vector<double>& factors = {}) {
  const auto named = Named(at, factors);
  return named ? named->deviations.name + ": " + named->deviations.sentence : "";
}

TEST(NameTable, HasNoDeviationIfTheNumbersAreRight) {
  const auto named = Named([](size_t j) { return kRight[j] + 0.9e-3; });
  ASSERT_TRUE(named);
  EXPECT_EQ(named->deviations.count, 0);
  EXPECT_EQ(named->numbers, kRight);
}

TEST(NameTable, SaysInWhichColumnsAConstantIs) {
  EXPECT_EQ(Sentence([](size_t j) { return j < 4 ? kRight[j] : 0; }),
            "bias_constant_in_part: bias is 0 at the columns 4 to 7 of 8");
}

TEST(NameTable, SaysWhichOtherColumnsAreRead) {
  EXPECT_EQ(Sentence([](size_t j) { return kRight[j < 5 ? j : j - 5]; }),
            "bias_of_other_columns: bias has the numbers of other columns, of 0 at 5 and so on, at "
            "the columns 5 to 7 of 8");
  EXPECT_EQ(
      Sentence([](size_t j) { return kRight[j / 2 * 2]; }),
      "bias_shared_by_neighbours: the numbers of the bias are in another order: each even one "
      "twice");
  EXPECT_EQ(Sentence([](size_t j) { return kRight[j / 4 * 4]; }),
            "bias_of_group: the numbers of the bias are in another order: the first of each 4 "
            "everywhere");
}

TEST(NameTable, KnowsFunctionsAndFactors) {
  EXPECT_EQ(Sentence([](size_t j) { return 2 * kRight[j]; }),
            "bias_twice: the numbers of the bias are twice the right ones");
  EXPECT_EQ(Sentence([](size_t j) { return kRight[j] * kRight[7 - j]; },
                     {kRight.rbegin(), kRight.rend()}),
            "bias_before_weight: the numbers of the bias are multiplied by the weight");
  EXPECT_EQ(
      Sentence([](size_t j) { return (j % 2 ? 1.5 : 1) * kRight[j]; }),
      "bias_multiplied_in_part: bias is multiplied by 1.5 at the columns 1 to 7 in steps of 2 "
      "of 8");
}

TEST(NameTable, HasNoNameForUnrelatedNumbers) {
  EXPECT_FALSE(Named([](size_t j) { return 0.11 * static_cast<double>(j * j) - 1; }));
}

}  // namespace
}  // namespace sextant::oracle
