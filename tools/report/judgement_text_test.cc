#include "tools/report/judgement_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::tools {
namespace {

using oracle::Grade;
using oracle::TensorVerdict;
using oracle::Verdict;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TensorVerdict Judged(const std::string& name, Grade grade) {
  TensorVerdict tensor{.name = name, .elements = 8, .judged = 8, .grade = grade, .worst = {}};
  tensor.failed = grade == Grade::kFails ? 8 : 0;
  return tensor;
}

Judgement Failing() {
  Judgement judgement{.question = {.c = Case::Parse("rms_norm N=1 M=8"),
                                   .inputs = {},
                                   .outputs = {},
                                   .defaults = {"B=1"}},
                      .recipe = "native",
                      .verdict = {}};
  judgement.verdict.status = Verdict::Status::kFails;
  judgement.verdict.grade = Grade::kFails;
  judgement.verdict.case_line = "rms_norm N=1 M=8";
  judgement.repeat = "sextant judge";
  return judgement;
}

TEST(JudgementText, NamesTheOutputsThatConformBesideOneThatFails) {
  Judgement judgement = Failing();
  judgement.verdict.tensors = {Judged("y", Grade::kFails), Judged("sum", Grade::kExact)};
  EXPECT_THAT(TextOf(judgement), HasSubstr("these outputs conform: sum (exact)\n"));
  judgement.verdict.tensors.pop_back();
  EXPECT_THAT(TextOf(judgement), Not(HasSubstr("these outputs")));
}

TEST(JudgementText, HasAtMost15LinesAndEndsWithTheCommand) {
  Judgement judgement = Failing();
  judgement.verdict.message = "first wrong at a";
  for (const char* name : {"a", "b", "c", "d", "e", "f"})
    judgement.verdict.tensors.push_back(Judged(name, Grade::kFails));
  judgement.verdict.tensors.push_back(Judged("g", Grade::kExact));
  for (const char* name : {"m", "n", "o"}) judgement.verdict.causes.push_back({name, "why"});
  const std::string text = TextOf(judgement);
  EXPECT_EQ(std::ranges::count(text, '\n'), 15) << text;
  EXPECT_THAT(text, HasSubstr("  ... and 8 more lines\n"));
  EXPECT_THAT(text, testing::EndsWith("\nrepeat: sextant judge\n"));
}

TEST(JudgementText, NeverLeavesOutOneLine) {
  Judgement judgement = Failing();
  judgement.verdict.causes = {{"m", "why"}, {"n", "why"}, {"o", "why"}};
  EXPECT_THAT(TextOf(judgement), HasSubstr("  likely cause: o (why)\n"));
}

// The row has one axis of one failing index, and its own.
TEST(JudgementText, ACauseOfOneRowIn16BitsIsOnlyPossible) {
  Judgement judgement = Failing();
  judgement.verdict.causes = {{"m", "why"}};
  oracle::TensorVerdict y = Judged("y", Grade::kFails);
  y.failed = 4;
  y.failing.resize(2);
  y.failing[0].ranges = {{3, 3}};
  y.failing[1].ranges = {{0, 3}};
  judgement.verdict.tensors = {y};
  for (const auto& [line, how] : {std::pair("softmax N=5 M=4 dtype=bf16", "possible"),
                                  std::pair("softmax N=5 M=4 dtype=f16 seed=1", "possible"),
                                  std::pair("softmax N=5 M=4 dtype=f32", "likely")}) {
    judgement.verdict.case_line = line;
    EXPECT_THAT(TextOf(judgement), HasSubstr(std::string(how) + " cause: m (why)\n")) << line;
  }
  judgement.verdict.case_line = "softmax N=5 M=4 dtype=bf16";
  judgement.verdict.tensors[0].failing[0].ranges = {{3, 4}};
  EXPECT_THAT(TextOf(judgement), HasSubstr("likely cause: m"));
}

TEST(JudgementText, ExplainsTheFirstOfMoreThanThreeCauses) {
  Judgement judgement = Failing();
  judgement.verdict.causes = {{"m", "why"}, {"n", "why"}, {"o", "why"}, {"p", "why"}};
  EXPECT_THAT(TextOf(judgement),
              HasSubstr("  likely cause: m (why)\n  or one of 3 other causes that explain it too: "
                        "n, o or p\n"));
}

TEST(JudgementText, NamesTheRecipesThatWouldPermitAFailingAnswer) {
  Judgement judgement = Failing();
  EXPECT_THAT(TextOf(judgement), HasSubstr("\nconforms by no other recipe that was tried\n"));
  judgement.verdict.other_recipes.texts = {"all_native", "*=f32 store=T"};
  judgement.verdict.other_recipes.width = 12;
  EXPECT_THAT(TextOf(judgement),
              HasSubstr("conforms by `all_native` or `*=f32 store=T`, which permits 12 times as "
                        "much, if that says how it is computed\n"));
  EXPECT_THAT(TextOf(judgement), Not(HasSubstr("by no recipe")));
  judgement.verdict.other_recipes.sample = Sample{.elements = 4, .all_elements = 8};
  EXPECT_THAT(TextOf(judgement), HasSubstr("is computed; 4 of 8 elements judged\n"));
  judgement.verdict.other_recipes.have_other_errors = true;
  EXPECT_THAT(TextOf(judgement), HasSubstr("`, but only because it permits 12 times as much: its "
                                           "own errors are others; 4 of 8"));
  judgement.verdict.other_recipes.width = 0;  // not known
  EXPECT_THAT(TextOf(judgement), HasSubstr("but only because it permits more: its own errors"));
}

TEST(JudgementText, SaysFirstThatOnlyAPartWasJudged) {
  Judgement judgement = Failing();
  judgement.verdict.status = Verdict::Status::kConforms;
  judgement.verdict.grade = Grade::kExact;
  judgement.verdict.tensors = {Judged("y", Grade::kExact)};
  judgement.budget = {.elements = 4, .seed = 9};
  EXPECT_THAT(TextOf(judgement), StartsWith("conforms (exact): rms_norm"));
  judgement.verdict.tensors[0].left_out = 4;
  EXPECT_THAT(TextOf(judgement),
              StartsWith("conforms (exact) in the part that was judged: rms_norm"));
  EXPECT_THAT(TextOf(judgement), HasSubstr("4 left out; the part was chosen with seed 9\n"));
  EXPECT_THAT(TextOf(judgement), Not(HasSubstr("repeat")));
}

TEST(JudgementText, RepeatsWithTheSameOptions) {
  Judgement judgement = Failing();
  EXPECT_EQ(RepeatOptions(judgement), "");
  judgement.recipe = "f32_compute";
  judgement.strict = true;
  judgement.budget = {.elements = 4, .seed = 9};
  EXPECT_EQ(RepeatOptions(judgement),
            " --recipe 'f32_compute' --strict --budget-elements 4 --seed 9");
}

}  // namespace
}  // namespace sextant::tools
