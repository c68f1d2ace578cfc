#include "oracle/attention/measured/softmax.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "oracle/attention/measured/planted_attention_test.h"

namespace sextant::oracle {
namespace {

using testing::Contains;
using testing::IsEmpty;

constexpr size_t kRows = 8, kColumns = 37;

// y_j = e^(factor x_j) / (sum + added + zeros e^0), where the sum has the columns of `sums` in the
// rows of `sums_rows`.
struct PlantedSoftmax {
  double factor = 1, added = 0, zeros = 0;
  std::function<bool(size_t n, size_t other)> sums_rows = std::equal_to<size_t>();
  std::function<bool(size_t j, size_t k)> sums = [](size_t, size_t) { return true; };

  std::vector<std::string> Causes(const std::string& dtype) const {
    const AskedCase question("softmax N=8 M=37 dtype=" + dtype);
    const std::vector<double>& x = question.inputs[0].values.data;
    Tensor<double> y({kRows, kColumns});
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t n = i / kColumns, j = i % kColumns;
      const auto largest = [&](size_t row) {
        const auto values = std::span(x).subspan(row * kColumns, kColumns);
        return factor * (factor > 0 ? std::ranges::max(values) : std::ranges::min(values));
      };
      double sum = added + zeros * std::exp(-largest(n));
      for (size_t row = 0; row < kRows; ++row) {
        for (size_t k = 0; k < kColumns && sums_rows(n, row); ++k)
          if (sums(j, k)) sum += std::exp(factor * x[row * kColumns + k] - largest(row));
      }
      y.data[i] = RoundTo(question.c.dtype(), std::exp(factor * x[i] - largest(n)) / sum);
    }
    return question.Causes({{"y", question.c.dtype(), y}});
  }
};

TEST(MeasuredSoftmax, FindsNothingInARightAnswer) {
  EXPECT_THAT(PlantedSoftmax().Causes("f32"), IsEmpty());
}

TEST(MeasuredSoftmax, MeasuresTheFactorOfExponents) {
  EXPECT_THAT(PlantedSoftmax{.factor = 0.7}.Causes("f32"),
              Contains("x_multiplied (exponents are multiplied by 0.7)"));
  EXPECT_THAT(PlantedSoftmax{.factor = 0.25}.Causes("bf16"),
              Contains("x_multiplied (exponents are multiplied by 0.25 = 1/sqrt(16))"));
}

TEST(MeasuredSoftmax, NamesEpsInTheDivisor) {
  EXPECT_THAT(PlantedSoftmax{.added = 1e-5}.Causes("f32"),
              Contains("sum_increased (1e-05 is added to the sum of e^(x - largest))"));
}

TEST(MeasuredSoftmax, NamesPaddingInTheSum) {
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT(PlantedSoftmax{.zeros = 27}.Causes(dtype),
                Contains("sum_has_zeros (e^0 is added 27 times to the sum of e^x)"));
  }
}

TEST(MeasuredSoftmax, NamesSumsOfOtherRows) {
  for (const char* dtype : {"f32", "bf16"}) {
    PlantedSoftmax planted;
    planted.sums_rows = [](size_t, size_t other) { return other == 0; };
    EXPECT_THAT(planted.Causes(dtype),
                Contains("sum_of_other_rows (all rows are divided by the sum of the first row)"));
    planted.sums_rows = [](size_t n, size_t other) { return n / 3 == other / 3; };
    EXPECT_THAT(planted.Causes(dtype),
                Contains("sum_of_other_rows (blocks of 3 rows are divided by the sum over the "
                         "block)"));
  }
}

TEST(MeasuredSoftmax, NamesPartialSums) {
  PlantedSoftmax planted;
  planted.sums = [](size_t j, size_t k) { return j / 8 == k / 8; };
  EXPECT_THAT(planted.Causes("f32"),
              Contains("sum_by_tiles (each tile of 8 columns has its own sum)"));
  planted.sums = [](size_t, size_t k) { return k < 32; };
  EXPECT_THAT(planted.Causes("f32"), Contains("sum_cut (the sum has only columns 0 to 32 - 1)"));
}

TEST(MeasuredSoftmax, NamesTwoDeviationsAtOnce) {
  EXPECT_THAT((PlantedSoftmax{.factor = 0.3, .added = 1e-3}.Causes("f32")),
              Contains("sum_increased+x_multiplied (0.001 is added to the sum of e^(x - largest); "
                       "and exponents are multiplied by 0.3)"));
  for (const char* dtype : {"f32", "bf16"}) {
    EXPECT_THAT((PlantedSoftmax{.factor = 0.25, .zeros = 1}.Causes(dtype)),
                Contains("sum_has_zeros+x_multiplied (e^0 is added 1 times to the sum of e^x; and "
                         "exponents are multiplied by 0.25 = 1/sqrt(16))"));
  }
  PlantedSoftmax planted{.factor = 0.7};
  planted.sums_rows = [](size_t n, size_t other) { return n / 2 == other / 2; };
  EXPECT_THAT(planted.Causes("f32"), Contains(testing::StartsWith("sum_of_other_rows+x_mult")));
}

}  // namespace
}  // namespace sextant::oracle
