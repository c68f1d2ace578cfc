#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/defect.h"
#include "oracle/judge/judge.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;
using testing::UnorderedElementsAre;

struct Asked {
  explicit Asked(const std::string& line, const std::string& by = "native")
      : c(Case::Parse(line)), inputs(DrawInputs(c)), recipe(ParseRecipe(by, c.dtype())) {}
  std::vector<std::string> Causes(const Tensors& answer) const {
    const Judge judge(c, inputs, recipe);
    std::vector<std::string> causes;
    for (const Cause& cause : CausesOf(c, inputs, recipe, judge.permitted(), answer))
      causes.push_back(cause.name + " (" + cause.why + ")");
    return causes;
  }

  Case c;
  Tensors inputs;
  Recipe recipe;
};

TEST(CausesOf, NamesTheBugAndWhereItIsKnownFrom) {
  const Asked asked("rope pairing=half H=2 D=8 dtype=f32 @position=1,2,3");
  const auto at =
      std::ranges::find(CatalogEntryOf("rope").defects, "mixed_rotate_half", &Defect::name);
  const Tensors wrong = Predict(*at->hypothesis(asked.c, asked.inputs, asked.recipe), asked.c);
  EXPECT_THAT(
      asked.Causes(wrong),
      ElementsAre(StartsWith("mixed_rotate_half (neighbouring channels are taken, but put")));
}

// Prediction and answer may both be off by what is permitted.
TEST(CausesOf, LeaveRoomForTheRoundingOfBoth) {
  const Asked asked("rope pairing=half H=2 D=8 dtype=f32 @position=1,2,3");
  const auto at =
      std::ranges::find(CatalogEntryOf("rope").defects, "mixed_rotate_half", &Defect::name);
  const Hypothesis hypothesis = *at->hypothesis(asked.c, asked.inputs, asked.recipe);
  const Tensors wrong = Predict(hypothesis, asked.c);
  const auto permitted =
      Permit(*hypothesis.operation, asked.c, hypothesis.inputs, asked.recipe)[0].error.data;
  const auto off = [&](double of_permitted) {
    Tensors answer = wrong;
    for (size_t i = 0; i < permitted.size(); ++i)
      answer[0].values.data[i] += of_permitted * permitted[i];
    return Explains(hypothesis, asked.c, asked.recipe, answer);
  };
  EXPECT_TRUE(off(1.5));
  EXPECT_FALSE(off(2.5));
}

// e^200 is beyond f32: infinity / infinity.
TEST(CausesOf, ExplainsNaN) {
  const Asked asked("softmax N=1 M=3 dtype=f32 @x=200,1,2");
  const auto& defects = CatalogEntryOf("softmax").defects;
  const auto at = std::ranges::find(defects, "largest_not_subtracted", &Defect::name);
  const Tensors wrong = Predict(*at->hypothesis(asked.c, asked.inputs, asked.recipe), asked.c);
  ASSERT_TRUE(std::isnan(wrong[0].values.data[0]));
  EXPECT_THAT(asked.Causes(wrong), Contains(StartsWith("largest_not_subtracted ")));
}

// A recipe that names the last rounding does not change in which format the bug rounds.
TEST(CausesOf, NamesRoundedProductsUnderAnExplicitStore) {
  const Asked asked("linear N=4 F=4 M=16 dtype=f32", "native store=f32");
  const auto& defects = CatalogEntryOf("linear").defects;
  const auto at = std::ranges::find(defects, "products_in_bf16", &Defect::name);
  ASSERT_NE(at, defects.end());
  const Recipe native = ParseRecipe("native", asked.c.dtype());
  const Tensors wrong = Predict(*at->hypothesis(asked.c, asked.inputs, native), asked.c);
  EXPECT_THAT(asked.Causes(wrong), Contains(StartsWith("products_in_bf16")));
  EXPECT_EQ(Predict(*at->hypothesis(asked.c, asked.inputs, asked.recipe), asked.c)[0].values.data,
            wrong[0].values.data);
}

// Changed formats hardly change an answer of few bits: they would explain any honest one.
TEST(CausesOf, NamesNothingThatHonestAnswersShow) {
  const Asked asked("rope pairing=half H=2 D=8 dtype=bf16 @position=1,2,3");
  const Tensors honest = AnswerBy(asked.c, asked.inputs, asked.recipe);
  EXPECT_THAT(asked.Causes(honest), IsEmpty());
}

// What the case would answer with other words, judged as an answer to it.
std::vector<std::string> CausesIf(const std::string& line, const std::string& words) {
  const Asked asked(line);
  return asked.Causes(AnswerBy(asked.c.With(words), asked.inputs, asked.recipe));
}

// R/2 - 1 lies beyond the upper limit: a bug of clamping it would predict the same, were it one.
TEST(CausesOf, NamesTruncatedLimitsWhereNoneAreDue) {
  EXPECT_THAT(
      CausesIf("rope pairing=half H=1 D=64 base=150000 dtype=bf16 @position=1,300,8191 "
               "scaling=yarn(factor=32,original_max_position_embeddings=4096,"
               "truncate=false)",
               "scaling=yarn(factor=32,original_max_position_embeddings=4096)"),
      ElementsAre(StartsWith("yarn_truncate_flipped "), StartsWith("scaling.yarn.truncate=true ")));
}

// Where the short factors should still count, long ones may be a wrong comparison or no short ones
// at all: the bug that shows here alone comes first.
TEST(CausesOf, NamesTheBugOfOneLengthFirst) {
  const std::string line =
      "rope_frequencies R=4 scaling=longrope(short_factor=[1,1.5],long_factor=[2,40.5],"
      "original_max_position_embeddings=4096,factor=32) dtype=f64 seq_len=";
  EXPECT_THAT(CausesIf(line + "4096", "seq_len=4097").front(),
              StartsWith("longrope_switches_early "));
  EXPECT_THAT(CausesIf(line + "4097", "seq_len=4096").front(),
              StartsWith("longrope_switches_late "));
  EXPECT_THAT(CausesIf(line + "4000", "seq_len=4097").front(), StartsWith("longrope_always_long "));
}

// 2 (3000 / 4096) - 1 = 119 / 256.
TEST(CausesOf, NamesABaseThatShrinks) {
  EXPECT_THAT(
      CausesIf("rope_frequencies R=16 scaling=dynamic(factor=2,max_position_embeddings=4096) "
               "seq_len=3000 dtype=f64",
               "scaling=ntk(factor=0.46484375)"),
      ElementsAre(StartsWith("dynamic_shrinks ")));
}

// The drawn sink is nearly -ln 2, so that 2 e^sink is 1.00004: within what f32 permits around 1,
// and not as near.
TEST(CausesOf, NamesTheNearerOfTwo) {
  const Asked asked("attention_sink scale=0.5 soft_cap=2 window=[1,0] H=1 S=1 T=3 D=72 dtype=f32");
  Tensors doubled = asked.inputs;
  for (double& sink : doubled[3].values.data) sink += std::log(2.0);
  EXPECT_THAT(asked.Causes(AnswerBy(asked.c, doubled, asked.recipe)),
              ElementsAre(StartsWith("sink_doubled ")));
}

// eps hardly shows beside a mean square of 1: three ways to have next to none predict the same, up
// to the roundings of one computation or another.
TEST(CausesOf, NamesAllThatRoundingCannotTellApart) {
  const Asked asked("rms_norm N=2 M=7 dtype=f32");
  for (const char* recipe : {"native", "exact", "f32_compute"}) {
    const Tensors answer =
        AnswerBy(asked.c.With("eps=1e-08"), asked.inputs, ParseRecipe(recipe, asked.c.dtype()));
    EXPECT_THAT(asked.Causes(answer),
                UnorderedElementsAre(StartsWith("eps_as_floor "), StartsWith("eps_missing "),
                                     StartsWith("eps=1e-08 ")))
        << recipe;
  }
}

// In 16 bits the worst case of a block permits other bugs as well; what is likely does not. Half of
// the first branch is lost, which no bug of the catalogue is.
TEST(CausesOf, NamesOnlyWhatLikelyErrorsExplain) {
  const Asked asked(
      "decoder_block pairing=half S=6 M=8 H=4 K=2 D=4 F=12 key_length=[4] dtype=bf16");
  const auto& defects = CatalogEntryOf("decoder_block").defects;
  const auto bug = std::ranges::find(defects, "gate_exchanged_with_up", &Defect::name);
  ASSERT_NE(bug, defects.end());
  Tensors wrong = Predict(*bug->hypothesis(asked.c, asked.inputs, asked.recipe), asked.c);
  wrong.resize(1);
  EXPECT_THAT(asked.Causes(wrong), ElementsAre(StartsWith("gate_exchanged_with_up ")));
  Tensors halved = asked.inputs;
  const auto wo = std::ranges::find(halved, "wo", &NamedTensor::name);
  for (double& weight : wo->values.data) weight /= 2;
  Tensors other = AnswerBy(asked.c, halved, asked.recipe);
  other.resize(1);
  EXPECT_THAT(asked.Causes(other), IsEmpty());
}

// What bugs that hardly show here would permit is no explanation of something else.
TEST(CausesOf, NamesNothingForWhatNoBugPredicts) {
  const Asked asked("rope pairing=half H=4 S=16 D=64 dtype=bf16");
  Tensors answer = AnswerBy(asked.c, asked.inputs, asked.recipe);
  const auto permitted = Permit(asked.c, asked.inputs, asked.recipe);
  for (const size_t i : {size_t{5}, size_t{1000}}) {
    answer[0].values.data[i] += 2 * permitted[0].error.data[i];
  }
  EXPECT_THAT(asked.Causes(answer), IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
