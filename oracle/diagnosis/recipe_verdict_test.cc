#include "oracle/diagnosis/recipe_verdict.h"

#include <gtest/gtest.h>

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
  const auto verdict = ConformingVerdict({c, inputs, outputs, judge, right}, "f32_compute", {});
  ASSERT_TRUE(verdict);
  EXPECT_EQ(JudgedElements(*verdict), outputs[0].values.data.size());
  for (const size_t at : {size_t{0}, size_t{70001}, outputs[0].values.data.size() - 1}) {
    Tensors wrong = outputs;
    wrong[0].values.data[at] += 1;
    const Verdict fails = judge.Evaluate(wrong);
    EXPECT_FALSE(ConformingVerdict({c, inputs, wrong, judge, fails}, "f32_compute", {})) << at;
  }
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
