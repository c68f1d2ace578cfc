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

// y_j = e^(factor x_j) / (sum + added), where the sum has the columns of `sums`.
struct PlantedSoftmax {
  double factor = 1, added = 0;
  std::function<bool(size_t j, size_t k)> sums = [](size_t, size_t) { return true; };

  std::vector<std::string> Causes(const std::string& dtype) const {
    const DrawnCase question("softmax N=8 M=37 dtype=" + dtype);
    const std::vector<double>& x = question.inputs[0].values.data;
    Tensor<double> y({kRows, kColumns});
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t first = i / kColumns * kColumns, j = i - first;
      double largest = -kInfinity, sum = 0;
      for (size_t k = 0; k < kColumns; ++k) largest = std::max(largest, factor * x[first + k]);
      for (size_t k = 0; k < kColumns; ++k)
        if (sums(j, k)) sum += std::exp(factor * x[first + k] - largest);
      y.data[i] = RoundTo(question.c.dtype(), std::exp(factor * x[i] - largest) / (sum + added));
    }
    return CausesOfAnswer(question, {{"y", question.c.dtype(), y}});
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
}

}  // namespace
}  // namespace sextant::oracle
