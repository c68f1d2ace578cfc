#include "oracle/position/measured/attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/catalog/causes_test.h"

namespace sextant::oracle {
namespace {

// Sines and cosines in double, with a wrong base and wrong positions.
Tensors Sinusoids(const AskedCase& question, double base, double (*position)(double)) {
  const std::vector<double>& positions = question.inputs[0].values.data;
  const size_t M = question.c.ShapeOf(question.c.info().signature.outputs[0])[1];
  Tensor<double> y({positions.size(), M});
  for (size_t i = 0; i < y.data.size(); ++i) {
    const double exponent = static_cast<double>(i % M / 2 * 2) / static_cast<double>(M);
    const double angle = position(positions[i / M]) * std::pow(base, -exponent);
    y.data[i] = RoundTo(question.c.dtype(), i % 2 == 0 ? std::sin(angle) : std::cos(angle));
  }
  return {{"y", question.c.dtype(), y}};
}
std::vector<std::string> CausesOfSinusoids(const std::string& line, double base,
                                           double (*position)(double)) {
  const AskedCase question(line);
  return question.Causes(Sinusoids(question, base, position));
}

double Same(double position) { return position; }

TEST(MeasuredAttributes, FindNothingInARightAnswer) {
  EXPECT_THAT(CausesOfSinusoids("sinusoidal M=32 S=24 dtype=f32", 10000, Same), IsEmpty());
}

TEST(MeasuredAttributes, MeasureAnyBase) {
  EXPECT_THAT(CausesOfSinusoids("sinusoidal M=32 S=24 dtype=f32", 7321, Same),
              ElementsAre("base_changed (the base is 7321, expected 10000)"));
  EXPECT_THAT(CausesOfSinusoids("sinusoidal M=32 S=24 dtype=bf16", 5000, Same),
              ElementsAre("base_changed (the base is 5000, expected 10000)"));
}

TEST(MeasuredAttributes, CountClampedPositions) {
  EXPECT_THAT(CausesOfSinusoids("sinusoidal M=32 dtype=f32 @position=0,5,300,1000,1001,1500", 10000,
                                [](double p) { return std::min(p, 1000.0); }),
              Contains("position_clamped (position: positions above 1000 act as 1000 (2 of 6 such "
                       "tokens))"));
}

TEST(MeasuredAttributes, NameTwoDeviationsAtOnce) {
  EXPECT_THAT(
      CausesOfSinusoids("sinusoidal M=32 S=24 dtype=f32", 500000, [](double p) { return p + 3; }),
      Contains("position_shifted+base_changed (position: positions have 3 added (24 of 24 "
               "such tokens); and the base is 500000, expected 10000)"));
}

TEST(MeasuredAttributes, LookForTwoDeviationsAsLongAsEvaluationsAreLeft) {
  const AskedCase question("sinusoidal M=32 S=24 dtype=f32");
  const Judge judge(question.c, question.inputs, question.recipe);
  const Tensors answer = Sinusoids(question, 500000, [](double p) { return p + 3; });
  for (const size_t most : {size_t{100}, size_t{100000}}) {
    size_t left = most;
    std::vector<std::string> names;
    for (const Explanation& found : MeasureAttributes({.c = question.c,
                                    .inputs = question.inputs,
                                    .recipe = question.recipe,
                                    .golden = judge.golden(),
                                    .permitted = judge.permitted(),
                                    .answer = answer,
                                    .evaluations_left = &left}))
      names.push_back(found.name);
    if (most > 100) {
      EXPECT_THAT(names, Contains("position_shifted+base_changed"));
      EXPECT_LT(left, most);
    } else {
      EXPECT_THAT(names, IsEmpty());
      EXPECT_EQ(left, 0u);
    }
  }
}

// An unlisted factor of each token: no attribute explains it.
TEST(MeasuredAttributes, SayNothingAboutAnotherKindOfBug) {
  EXPECT_THAT(CausesOfSinusoids("sinusoidal M=32 S=24 dtype=f32", 10000,
                                [](double p) { return std::sqrt(p * p + 0.3 * p + 2); }),
              IsEmpty());
}

TEST(MeasuredAttributes, MeasureIntegers) {
  const AskedCase question(
      "log_n_scale original_max_position_embeddings=2048 H=1 D=4 dtype=f32 "
      "@position=0,100,4000,9000,50000,100000");
  Tensors answer = question.CorrectAnswer();
  for (size_t i = 0; i < answer[0].values.data.size(); ++i) {
    const double position = question.inputs[1].values.data[i / 4];
    answer[0].values.data[i] =
        RoundTo(DType::kF32, question.inputs[0].values.data[i] *
                                 std::max(1.0, std::log(position + 1) / std::log(3000.0)));
  }
  EXPECT_THAT(question.Causes(answer),
              Contains(StartsWith("original_max_position_embeddings_changed "
                                  "(original_max_position_embeddings is 3000, expected 2048")));
}

TEST(MeasuredAttributes, AccuseNoHonestRecipe) {
  for (const char* recipe : {"native frequency=f32:iterated", "native frequency=f32:power_chain",
                             "native frequency=bf16", "native trig=f16"}) {
    const AskedCase question("sinusoidal M=32 S=24 dtype=f32");
    const Tensors answer =
        EvaluateByRecipe({question.c, question.inputs, ParseRecipe(recipe, question.c.dtype())});
    for (const std::string& cause : question.Causes(answer))
      EXPECT_THAT(cause, testing::Not(testing::HasSubstr("_changed"))) << recipe;
  }
}

}  // namespace
}  // namespace sextant::oracle
