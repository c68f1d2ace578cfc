#include "oracle/catalog/smaller_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "oracle/catalog/causes.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

std::vector<std::string> SmallerOf(const std::string& line) {
  std::vector<std::string> lines;
  for (const Case& c : SmallerCasesOf(Case::Parse(line))) lines.push_back(c.ToString());
  return lines;
}

TEST(SmallerCase, HasFewerRowsAndKeysAndTheSameWidths) {
  const auto smaller = SmallerOf("attention mask=causal H=12 K=4 S=256 T=512 D=64 E=64 dtype=bf16");
  ASSERT_EQ(smaller.size(), 2);
  EXPECT_THAT(smaller[0], AllOf(HasSubstr(" D=64 E=64 H=12 K=4 S=4 T=64 "), HasSubstr("causal")));
  EXPECT_THAT(smaller[1], HasSubstr(" D=64 E=64 H=12 K=4 S=4 T=512 "));
}

TEST(SmallerCase, InputsThatDoNotFitAreDrawn) {
  std::string positions = "0";
  for (int i = 1; i < 300; ++i) positions += "," + std::to_string(i);
  const auto smaller =
      SmallerOf("rope pairing=half H=8 S=300 D=128 dtype=f32 @position=" + positions);
  ASSERT_EQ(smaller.size(), 1);
  EXPECT_THAT(smaller[0], AllOf(HasSubstr(" D=128 "), Not(HasSubstr("@position=0,1"))));
}

TEST(SmallerCase, ACaseOfFewRowsHasNone) {
  EXPECT_THAT(SmallerOf("rms_norm N=2 M=16384 dtype=f32"), IsEmpty());
  EXPECT_THAT(SmallerOf("rms_norm N=64 M=64 dtype=f32"), IsEmpty());
  EXPECT_THAT(SmallerOf("alibi_slopes H=64 dtype=f32"), IsEmpty());
}

// A rotation that reads sines and cosines from a table of 4096 angles in a turn.
Answer WithSineTable(const Case& c, const Tensors& inputs) {
  const Tensor<double>&x = inputs[0].values, &position = inputs[1].values;
  Answer answer{.message = "", .outputs = {{"y", DType::kF32, x}}};
  std::vector<double>& y = answer.outputs[0].values.data;
  const auto extent = [&](const char* name) {
    return static_cast<size_t>(c.dimensions().at(name));
  };
  const size_t D = extent("D"), S = extent("S"), pairs = D / 2;
  const double step = 2 * std::numbers::pi / 4096;
  for (size_t row = 0; row < y.size() / D; ++row) {
    for (size_t k = 0; k < pairs; ++k) {
      const double frequency =
          std::pow(10000, -static_cast<double>(k) / static_cast<double>(pairs));
      const double angle = std::round(position.data[row % S] * frequency / step) * step;
      const size_t i = row * D + k, j = i + pairs;
      y[i] = static_cast<float>(x.data[i] * std::cos(angle) - x.data[j] * std::sin(angle));
      y[j] = static_cast<float>(x.data[j] * std::cos(angle) + x.data[i] * std::sin(angle));
    }
  }
  return answer;
}

TEST(SmallerCase, ALargeAnswerHasTheCausesOfASmallerOne) {
  const DrawnCase large("rope pairing=half H=4 S=512 D=64 dtype=f32 seed=1");
  const Subject subject{"mine", "native", WithSineTable};
  const Tensors answer = subject.answer(large.c, large.inputs).outputs;
  const Judge judge(large.c, large.inputs, large.recipe);
  Observation seen{large.c, large.inputs, large.recipe, judge.golden(), judge.permitted(), answer};
  EXPECT_EQ(CausesOf(seen).size(), 0);
  seen.how.subject = &subject;
  const auto causes = CausesOf(seen);
  ASSERT_EQ(causes.size(), 1);
  EXPECT_EQ(causes[0].name, "sine_table");
  EXPECT_THAT(causes[0].why, HasSubstr("; found in the smaller case `rope pairing=half "));
}

}  // namespace
}  // namespace sextant::oracle
