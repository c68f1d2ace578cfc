#include "oracle/layer/measured/linear.h"

#include <cmath>

#include "oracle/catalog/causes_test.h"
#include "oracle/layer/measured/answer_test.h"
#include "oracle/property/changed_inputs.h"

namespace sextant::oracle {
namespace {

struct MeasuredLinear : MeasuredInDType {
  // What is said if product m is counted times(m) times, and the bias `of_bias` times.
  std::vector<std::string> If(const std::string &words, const std::function<double(size_t)> &times,
                              double of_bias = 1) {
    const MeasuredCase question(Line(words));
    const auto &x = question.In("x"), &weight = question.In("weight");
    const size_t F = weight.shape[0];
    return question.Causes([&](size_t i) {
      double sum = 0;
      for (size_t m = 0; m < weight.shape[1]; ++m) sum += times(m) * x(i / F, m) * weight(i % F, m);
      return sum + (question.inputs.size() > 2 ? of_bias * question.In("bias").data[i % F] : 0);
    });
  }
};

TEST_P(MeasuredLinear, RemainderLost) {
  EXPECT_THAT(If("linear N=8 F=9 M=103", [](size_t m) { return m < 96; }),
              ElementsAre("columns_lost: columns 96 to 102 of 103 are lost"));
}

TEST_P(MeasuredLinear, BlockCountedTwiceAndBiasMissing) {
  EXPECT_THAT(
      If(
          "linear with=bias N=8 F=9 M=200", [](size_t m) { return m / 32 == 2 ? 2 : 1; }, 0),
      ElementsAre("bias_missing+columns_counted_twice: the bias is not added; columns 64 "
                  "to 95 of 200 are counted twice"));
}

TEST_P(MeasuredLinear, ColumnsCountAnotherNumberOfTimes) {
  EXPECT_THAT(If("linear N=8 F=9 M=96", [](size_t m) { return m / 8 % 2 == 1 ? 1.5 : 1; }),
              ElementsAre("columns_scaled: the columns with m mod 16 in 8 to 15 of 96 count 1.5 "
                          "times"));
  EXPECT_THAT(If("linear N=8 F=9 M=96", [](size_t m) { return m < 48 ? 0.25 : 0; }),
              Contains(AllOf(StartsWith("product_multiplied+columns_lost: x weight^T is multiplied "
                                        "by 0.25"),
                             HasSubstr("columns 48 to 95 of 96 are lost"))));
}

// The bias is not known while the columns are found.
TEST_P(MeasuredLinear, BiasOfOtherOutputsAndColumnsLost) {
  const MeasuredCase question(Line("linear with=bias N=8 F=12 M=40"));
  const auto &x = question.In("x"), &weight = question.In("weight");
  EXPECT_THAT(question.Causes([&](size_t i) {
    double sum = question.In("bias").data[i % 12 / 4 * 4];
    for (size_t m = 0; m < 40; ++m) sum += m / 4 == 2 ? 0 : x(i / 12, m) * weight(i % 12, m);
    return sum;
  }),
              Contains("bias_of_group+columns_lost: the numbers of the bias are in another order: "
                       "the first of each 4 everywhere; columns 8 to 11 of 40 are lost"));
}

TEST_P(MeasuredLinear, LaneLost) {
  EXPECT_THAT(If("linear N=8 F=9 M=120", [](size_t m) { return m % 5 != 3; }),
              ElementsAre("columns_lost: columns m with m mod 5 = 3 of 120 are lost"));
}

TEST_P(MeasuredLinear, FactorOfTheProduct) {
  EXPECT_THAT(If("linear with=bias N=8 F=9 M=120", [](size_t) { return 0.3; }),
              ElementsAre(StartsWith("product_multiplied: x weight^T is multiplied by 0.3")));
}

TEST_P(MeasuredLinear, FactorOfTheBias) {
  EXPECT_THAT(If(
                  "linear with=bias N=8 F=9 M=120", [](size_t) { return 1; }, 3),
              ElementsAre(StartsWith("bias_multiplied: the bias is multiplied by 3")));
}

// Few of the elements say whether the factor is 0.5, which is listed, or 0.6.
TEST_P(MeasuredLinear, SmallFactorOfTheBiasThatIsNotListed) {
  for (const char *seed : {"1", "2", "3"}) {
    EXPECT_THAT(If(
                    std::string("linear with=bias N=64 F=64 M=64 @bias=normal(0.005) seed=") + seed,
                    [](size_t) { return 1; }, 0.6),
                Contains(StartsWith("bias_multiplied: the bias is multiplied by 0.")))
        << seed;
  }
}

TEST_P(MeasuredLinear, ColumnsRolledAndBiasMissing) {
  const MeasuredCase question(std::string("linear with=bias N=8 F=9 M=40 dtype=") + GetParam());
  const auto &x = question.In("x"), &weight = question.In("weight");
  EXPECT_THAT(question.Causes([&](size_t i) {
    double sum = 0;
    for (size_t m = 0; m < 40; ++m) sum += x(i / 9, m) * weight(i % 9, (m + 39) % 40);
    return sum;
  }),
              ElementsAre("columns_rolled+bias_missing: the columns of the weight are in another "
                          "order: rolled by 1 to the right; the bias is not added"));
}

TEST_P(MeasuredLinear, BiasOfTheFirstRowAndRemainderLost) {
  const MeasuredCase question(Line("linear with=bias N=8 F=9 M=70"));
  const auto &x = question.In("x"), &weight = question.In("weight");
  EXPECT_THAT(
      question.Causes([&](size_t i) {
        double sum = i < 9 ? question.In("bias").data[i] : 0;
        for (size_t m = 0; m < 64; ++m) sum += x(i / 9, m) * weight(i % 9, m);
        return sum;
      }),
      ElementsAre("bias_of_some_rows+columns_lost: only the first row has the bias; columns "
                  "64 to 69 of 70 are lost"));
}

TEST_P(MeasuredLinear, BiasByRowAndColumnTwice) {
  const AskedCase question(Line("linear with=bias N=8 F=9 M=40"));
  const Tensor<double> &x = InputNamed(question.inputs, "x"),
                       &w = InputNamed(question.inputs, "weight");
  Tensors answer = question.CorrectAnswer();
  for (size_t i = 0; i < 72; ++i) {
    double sum = InputNamed(question.inputs, "bias").data[i / 9] + x(i / 9, 5) * w(i % 9, 5);
    for (size_t m = 0; m < 40; ++m) sum += x(i / 9, m) * w(i % 9, m);
    answer[0].values.data[i] = RoundTo(question.c.dtype(), sum);
  }
  EXPECT_THAT(question.Causes(answer),
              ElementsAre(AllOf(StartsWith("bias_by_row+columns_counted_twice ("),
                                HasSubstr("row n has bias[n] in every column"))));
}

// 40 columns are 5 heads of 8, which are read as 8 heads of 5.
TEST_P(MeasuredLinear, HeadsTransposedAndBiasTwice) {
  const MeasuredCase question(Line("linear with=bias N=8 F=9 M=40"));
  const auto &x = question.In("x"), &weight = question.In("weight");
  EXPECT_THAT(question.Causes([&](size_t i) {
    double sum = 2 * question.In("bias").data[i % 9];
    for (size_t m = 0; m < 40; ++m) sum += x(i / 9, m) * weight(i % 9, m % 5 * 8 + m / 5);
    return sum;
  }),
              ElementsAre("columns_transposed+bias_added_twice: the columns of the weight are in "
                          "another order: [5,8] transposed; the bias is added twice"));
}

INSTANTIATE_TEST_SUITE_P(DTypes, MeasuredLinear, testing::Values("f32", "bf16", "f64"),
                         MeasuredInDType::NameOfTest);

TEST(MeasuredLinear, HonestRecipesAreNotAccused) {
  ExpectNoAccusation({"linear N=4 F=5 M=7", "linear N=8 F=9 M=103", "linear with=bias N=1 F=9 M=2",
                      "linear with=bias N=4 F=5 M=33"},
                     {"native dot=bf16", "native dot=f16", "*=bf16", "f32_compute"});
}

}  // namespace
}  // namespace sextant::oracle
