// Norms that read other rows, or the index of their row.
#include <cmath>

#include "oracle/catalog/causes_test.h"
#include "oracle/layer/measured/answer_test.h"

namespace sextant::oracle {
namespace {

struct MeasuredNormRows : MeasuredInDType {};

// Rows are slices, so these cannot be verified slice by slice. `sum_from`: the element from which
// the squares of so many columns are summed for row n; `weight_at`: the column of the weight.
std::vector<std::string> CausesAcrossRows(
    const std::string& line, size_t columns, double eps,
    const std::function<size_t(size_t n)>& sum_from,
    const std::function<size_t(size_t n, size_t j)>& weight_at) {
  const AskedCase question(line);
  const std::vector<double>&x = question.inputs[0].values.data, &w = question.inputs[1].values.data;
  Tensors answer = question.CorrectAnswer();
  for (size_t i = 0; i < x.size(); ++i) {
    double squares = 0;
    for (size_t k = 0; k < columns; ++k)
      squares += std::pow(x[(sum_from(i / 40) + k) % x.size()], 2);
    answer[0].values.data[i] = RoundTo(
        answer[0].dtype, x[i] / std::sqrt(squares / 40 + eps) * w[weight_at(i / 40, i % 40) % 40]);
  }
  return question.Causes(answer);
}
size_t OwnRow(size_t n) { return n * 40; }
size_t OwnColumn(size_t, size_t j) { return j; }

TEST_P(MeasuredNormRows, CausesAcrossRows) {
  const std::string line = Line("rms_norm N=12 M=40");
  EXPECT_THAT(CausesAcrossRows(
                  line, 40, 1e-5, [](size_t n) { return (n + 11) % 12 * 40; }, OwnColumn),
              ElementsAre("divisor_of_previous_row (every row has the divisor of the previous "
                          "one, the first row that of the last one)"));
  const auto of_row = [](size_t n, size_t j) { return j + n; };
  EXPECT_THAT(CausesAcrossRows(line, 40, 1e-5, OwnRow, of_row),
              ElementsAre("weight_of_row (row n reads the weight from column n on, around the "
                          "end)"));
  EXPECT_THAT(CausesAcrossRows(line, 48, 1e-5, OwnRow, OwnColumn),
              ElementsAre("columns_of_next_row (the first 8 columns of the next row (of the last "
                          "one: of the first) are summed, too, and the sum is divided by 40)"));
}

TEST_P(MeasuredNormRows, WeightOfTheRowAndEps) {
  const auto of_row = [](size_t n, size_t j) { return j + n; };
  EXPECT_THAT(
      CausesAcrossRows(Line("rms_norm N=16 M=40 @x=normal(0.005)"), 40, 5e-5, OwnRow, of_row),
      ElementsAre(AllOf(StartsWith("weight_of_row+eps ("), HasSubstr("eps is 5e-05"))));
}

INSTANTIATE_TEST_SUITE_P(DTypes, MeasuredNormRows, testing::Values("f32", "bf16", "f64"),
                         MeasuredInDType::NameOfTest);

}  // namespace
}  // namespace sextant::oracle
