#include "oracle/diagnosis/attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/catalog/causes_test.h"
#include "oracle/layer/measured/answer_test.h"

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
              ElementsAre("base_changed (base is 7321, expected 10000)"));
  EXPECT_THAT(CausesOfSinusoids("sinusoidal M=32 S=24 dtype=bf16", 5000, Same),
              ElementsAre("base_changed (base is 5000, expected 10000)"));
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
               "such tokens); and base is 500000, expected 10000)"));
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
                                    .how = {.evaluations_left = &left}}))
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

// The causes of the answer of a decoder, which has no measurement of its own, with another word.
std::vector<std::string> CausesOfDecoder(const std::string& word) {
  const MeasuredCase question(
      "decoder pairing=half embedding_scale=2 V=9 L=1 S=6 M=8 H=2 K=1 D=4 R=2 F=5 dtype=f32");
  const Case other = question.c.With(std::vector{word});
  return question.Causes(EvaluateByRecipe({other, question.inputs, question.recipe}));
}

TEST(MeasuredAttributes, AreNamedByTheirTypesInAnyOperation) {
  EXPECT_THAT(CausesOfDecoder("embedding_scale=1.37"),  // a real number
              Contains("embedding_scale_changed: embedding_scale is 1.37, expected 2"));
  EXPECT_THAT(CausesOfDecoder("offset=1"),  // an integer
              Contains("offset_changed: offset is 1, expected 0"));
  EXPECT_THAT(CausesOfDecoder("unit_offset=true"),
              Contains("unit_offset_changed: unit_offset is true, expected false"));
  EXPECT_THAT(CausesOfDecoder("kind=geglu"),
              Contains("kind_changed: kind is geglu, expected swiglu"));
}

TEST(MeasuredAttributes, ReadTokensByTheMapsOfIndices) {
  const MeasuredCase question(
      "decoder pairing=half V=30 L=1 S=8 M=8 H=2 K=1 D=4 F=5 dtype=f32 "
      "@token=3,29,28,7,11,27,26,25");
  Tensors clamped = question.inputs;
  for (double& token : clamped[0].values.data) token = std::min(token, 20.0);
  EXPECT_THAT(question.Causes(EvaluateByRecipe({question.c, clamped, question.recipe})),
              Contains("token_clamped: token: positions above 20 act as 20 (5 of 8 such tokens)"));
}

// After measurements of its own, an operation is asked for each of its attributes alone.
TEST(MeasuredAttributes, ExplainEachAlone) {
  const AskedCase question("rms_norm N=6 M=16 dtype=f32");
  const Case other = question.c.With(std::vector<std::string>{"eps=0.37"});
  const Tensors answer = EvaluateByRecipe({other, question.inputs, question.recipe});
  const Judge judge(question.c, question.inputs, question.recipe);
  const auto found = MeasureEachAttribute({.c = question.c,
                                           .inputs = question.inputs,
                                           .recipe = question.recipe,
                                           .golden = judge.golden(),
                                           .permitted = judge.permitted(),
                                           .answer = answer});
  ASSERT_THAT(found, testing::SizeIs(1));
  EXPECT_EQ(found[0].name, "eps_changed");
  EXPECT_EQ(found[0].sentence, "eps is 0.37, expected 1e-05");
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
