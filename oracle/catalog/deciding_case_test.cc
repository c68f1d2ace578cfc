#include "oracle/catalog/deciding_case.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/catalog/catalog.h"
#include "oracle/catalog/causes_test.h"
#include "reference/case/draw.h"
#include "reference/case/intermediate.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

using testing::SizeIs;

// A single query after three keys sees all four keys with a mask as without; two queries do not.
TEST(DecidingWord, IsAnExtentWithWhichTheAnswersDiffer) {
  const Case c =
      Case::Parse("attention mask=causal query_offset=[3] B=1 H=1 K=1 S=1 T=6 D=4 E=4 dtype=f32");
  const Recipe recipe = ParseRecipe("native", c.dtype());
  const Decision decision = DecidingWord(
      c, recipe,
      {&DefectNamed("attention", "mask=none"), &DefectNamed("attention", "query_offset=")});
  EXPECT_EQ(decision.word, "S=2");
  EXPECT_EQ(decision.answers, 2U);
}

// Within the trace of an answer of another shape.
TEST(DecidingWord, DoesNotTakeTheAnswerToTheCaseForThatToAnother) {
  const Case c = Case::Parse("quantize N=1 A=1 G=1 M=2");
  const Tensors answer = EvaluateByRecipe({c, DrawInputs(c), ParseRecipe("native", c.dtype())});
  const ScopedTrace trace(answer);
  const Decision decision = DecidingWord(
      c, ParseRecipe("native", c.dtype()),
      {&DefectNamed("quantize", "limit=224"), &DefectNamed("quantize", "scale_doubled")});
  EXPECT_NE(decision.word, "");
}

TEST(DecidingWord, IsEmptyIfTheDefectsAreTheSame) {
  const Case c = Case::Parse("rope pairing=half H=2 S=3 D=8 dtype=f32");
  const Defect& defect = DefectNamed("rope", "rotates_backwards");
  EXPECT_EQ(DecidingWord(c, ParseRecipe("native", c.dtype()), {&defect, &defect}).word, "");
}

TEST(CausesOf, SayWhichCaseTellsThemApart) {
  const AskedCase question(
      "attention mask=causal query_offset=[3] B=1 H=1 K=1 S=1 T=6 D=4 E=4 dtype=f32");
  const Tensors wrong = question.Predicted(DefectNamed("attention", "mask=none"));
  EXPECT_THAT(question.Causes(wrong),
              AllOf(SizeIs(2), Contains(AllOf(StartsWith("mask=none "),
                                              HasSubstr("not identifiable here: query_offset= "
                                                        "predicts the same; S=2 would tell")))));
}

}  // namespace
}  // namespace sextant::oracle
