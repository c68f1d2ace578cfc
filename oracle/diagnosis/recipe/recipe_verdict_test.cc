#include "oracle/diagnosis/recipe/recipe_verdict.h"

#include <gtest/gtest.h>

#include <cmath>

#include "oracle/subject/subject.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

// More elements than are judged first; wrong is one that another seed of the part may leave out.
TEST(ConformingVerdict, SeesEveryElementOfALargeCase) {
  const Case c = Case::Parse("rope pairing=half H=1 S=2048 D=64");
  const Tensors inputs = DrawInputs(c);
  const Recipe native = ParseRecipe("native", c.dtype());
  const Judge judge(c, inputs, native);
  Tensors outputs = RecipeSubject("native").answer(c, inputs).outputs;
  const Verdict right = judge.Evaluate(outputs);
  const auto verdict =
      ConformingVerdict({c, inputs, outputs, judge, right}, "f32_compute", {.start = "native"});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(JudgedElements(*verdict), outputs[0].values.data.size());
  for (const size_t at : {size_t{0}, size_t{70001}, outputs[0].values.data.size() - 1}) {
    Tensors wrong = outputs;
    wrong[0].values.data[at] += 1;
    const Verdict fails = judge.Evaluate(wrong);
    EXPECT_FALSE(
        ConformingVerdict({c, inputs, wrong, judge, fails}, "f32_compute", {.start = "native"}))
        << at;
  }
}

// 2^26 products: by another recipe they may take many times as long.
TEST(ConformingVerdict, SeesAPartOfAnExpensiveCase) {
  const Case c = Case::Parse("linear N=16 M=4096 F=1024");
  const Tensors inputs = DrawInputs(c);
  const Judge judge(c, inputs, ParseRecipe("native", c.dtype()));
  const Tensors outputs = RecipeSubject("native").answer(c, inputs).outputs;
  const Verdict right = judge.Evaluate(outputs);
  const JudgedAnswer answer{c, inputs, outputs, judge, right};
  const auto whole = ConformingVerdict(answer, "f32_compute", {.start = "native"});
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->sample);
  EXPECT_EQ(JudgedElements(*whole), 16384u);
  const auto part = ConformingVerdict(answer, "f32_compute", {.start = "native", .in_part = true});
  ASSERT_TRUE(part);
  ASSERT_TRUE(part->sample);
  EXPECT_EQ(JudgedElements(*part), part->sample->elements);
  EXPECT_LE(part->sample->elements, 8192u);
}

// The sum of 2048 numbers in bf16 may have an error as large as the sum.
TEST(ConformingVerdict, SeesAPartOfALargeCaseByARecipeThatSaysLittle) {
  const Case c = Case::Parse("softmax N=64 M=2048");
  const Tensors inputs = DrawInputs(c);
  const Judge judge(c, inputs, ParseRecipe("native", c.dtype()));
  Tensors outputs = RecipeSubject("native").answer(c, inputs).outputs;
  for (double& y : outputs[0].values.data) y = RoundTo(c.dtype(), 1.01 * y);
  const Verdict fails = judge.Evaluate(outputs);
  const JudgedAnswer answer{c, inputs, outputs, judge, fails};
  const std::string recipe = "*=bf16 store=T";
  const auto whole = ConformingVerdict(answer, recipe, {.start = "native"});
  ASSERT_TRUE(whole);
  EXPECT_EQ(JudgedElements(*whole), outputs[0].values.data.size());
  const auto part = ConformingVerdict(answer, recipe, {.start = "native", .in_part = true});
  ASSERT_TRUE(part);
  ASSERT_TRUE(part->sample);
  EXPECT_EQ(JudgedElements(*part), part->sample->elements);
  EXPECT_LT(part->sample->elements, outputs[0].values.data.size());
}

// End to end the recipe permits y, which does not follow from the answered `hidden`.
TEST(ConformingVerdict, OfAPartNeedsTheTraceToo) {
  const Case c = Case::Parse("feed_forward N=1040 M=64 F=64");
  const Tensors inputs = DrawInputs(c);
  const Judge judge(c, inputs, ParseRecipe("native", c.dtype()));
  Tensors outputs = RecipeSubject("native").answer(c, inputs).outputs;
  const Tensor<double>&hidden = Find(outputs, "hidden").values, &down = Find(inputs, "down").values;
  for (size_t i = 0; i < 1040; ++i) {
    for (size_t m = 0; m < 64; ++m) {
      double magnitude = 0;
      for (size_t f = 0; f < 64; ++f) magnitude += std::abs(hidden(i, f) * down(m, f));
      double& y = outputs[0].values(i, m);
      y = RoundTo(c.dtype(), y + 0.4 * magnitude);
    }
  }
  const Verdict fails = judge.Evaluate(outputs);
  ASSERT_FALSE(fails.trace.empty());
  const JudgedAnswer answer{c, inputs, outputs, judge, fails};
  const std::string recipe = "native dot=bf16";
  EXPECT_FALSE(ConformingVerdict(answer, recipe, {.start = "native"}));
  EXPECT_FALSE(ConformingVerdict(answer, recipe, {.start = "native", .in_part = true}));
}

// Decided without the orders of summation that make these errors likely, and equally.
TEST(ConformingVerdict, PassesWhatJudgesPass) {
  const Case c =
      Case::Parse("linear N=8 M=512 F=8 dtype=bf16 @x=uniform(1,2) @weight=uniform(1,2)");
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native dot=bf16", c.dtype());
  const Judge judge(c, inputs, recipe);
  const Tensors outputs = RecipeSubject("native dot=bf16").answer(c, inputs).outputs;
  const Verdict verdict = judge.Evaluate(outputs);
  ASSERT_EQ(verdict.status, Verdict::Status::kConforms);
  const Judge quick(c, inputs, recipe, ProveOptions{}, Judge::Grading::kPassOrFail);
  EXPECT_EQ(quick.Evaluate(outputs).status, Verdict::Status::kConforms);
  EXPECT_EQ(quick.Evaluate(outputs).tensors[0].judged, verdict.tensors[0].judged);
}

}  // namespace
}  // namespace sextant::oracle
