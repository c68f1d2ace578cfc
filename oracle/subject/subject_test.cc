#include "oracle/subject/subject.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/catalog/defect_subject.h"
#include "reference/base/error.h"
#include "reference/base/error_test.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

using testing::HasSubstr;

std::vector<double> Values(const Subject& subject, const std::string& line) {
  const Case c = Case::Parse(line);
  const Answer answer = subject.answer(c, DrawInputs(c));
  EXPECT_EQ(answer.status, Answer::Status::kAnswered);
  return answer.outputs.at(0).values.data;
}

// bf16 has 8 significant bits: 1/3 rounds to 0x1.56p-2.
TEST(RecipeSubject, RoundsAsTheRecipeSays) {
  const std::string line = "rms_norm N=1 M=2 eps=0 dtype=bf16 @x=3,3 @weight=0.333984375,1";
  EXPECT_EQ(Values(RecipeSubject("native"), line), (std::vector<double>{0.333984375, 1}));
  EXPECT_EQ(RecipeSubject("f32_compute").name, "recipe:f32_compute");
  EXPECT_EQ(RecipeSubject("f32_compute").recipe, "f32_compute");
}

TEST(RecipeSubject, RefusesUnknownRecipesAtOnce) {
  EXPECT_THAT(MessageOf([] { RecipeSubject("naive"); }), HasSubstr("there is no recipe 'naive'"));
}

TEST(DefectSubject, IsWrongOnlyWhereItsDefectShows) {
  const Subject correct = RecipeSubject("native");
  const Subject wrong = DefectSubject("rope/rotates_backwards");
  const std::string rotated = "rope pairing=half H=1 D=4 @position=1";
  EXPECT_NE(Values(wrong, rotated), Values(correct, rotated));
  const std::string norm = "rms_norm N=2 M=3";
  EXPECT_EQ(Values(wrong, norm), Values(correct, norm));
  // The case has no negative position.
  EXPECT_EQ(Values(DefectSubject("rope/negative_position_clamped"), rotated),
            Values(correct, rotated));
}

TEST(DefectSubject, NamesExistingDefectsInItsErrors) {
  EXPECT_EQ(MessageOf([] { DefectSubject("rope"); }), "'rope' is not OPERATION/DEFECT");
  EXPECT_THAT(MessageOf([] { DefectSubject("roep/x"); }),
              HasSubstr("there is no operation 'roep' (did you mean 'rope'?)"));
  EXPECT_THAT(MessageOf([] { DefectSubject("rope/rotates_backward"); }),
              HasSubstr("'rotates_backward' (did you mean 'rotates_backwards'?); its "));
  EXPECT_THAT(
      MessageOf([] { DefectSubject("rope/rotates_back"); }),
      testing::ContainsRegex("; its [0-9]+ defects: .*rotates_backwards .* \\.\\.\\.; its "));
  EXPECT_LT(MessageOf([] { DefectSubject("rope/x"); }).size(), 600u);
  EXPECT_EQ(MessageOf([] { DefectSubject("attention_bias/x"); }),
            "defect:attention_bias/x: 'attention_bias' is called 'attention with=bias' now");
  EXPECT_THAT(MessageOf([] { DefectSubject("rope_relayout/x"); }),
              HasSubstr("rope_relayout has no defect or coverage goal 'x'; its "));
  EXPECT_THAT(MessageOf([] { DefectSubject("softmax/x"); }),
              testing::ContainsRegex("; its [0-9]+ coverage goals: N>=17 M>=72,.* \\.\\.\\. "
                                     "\\(sextant audit-suite softmax lists all\\)$"));
}

TEST(DescribeMismatch, NamesWrongShapesWrongDtypesAndMissingOutputs) {
  const Case c = Case::Parse("rope_frequencies R=4 dtype=bf16");
  Tensors outputs = EvaluateByRecipe({c, Tensors{}, ParseRecipe("native", c.dtype())});
  EXPECT_EQ(DescribeMismatch(c, outputs), "");
  outputs[1].dtype = DType::kBF16;
  EXPECT_EQ(DescribeMismatch(c, outputs), "attention_factor is bf16, expected f32");
  outputs[0].values = Tensor<double>({4});
  EXPECT_EQ(DescribeMismatch(c, outputs), "inv_freq has shape [4], expected [2]");
  outputs.erase(outputs.begin());
  EXPECT_EQ(DescribeMismatch(c, outputs), "it has no output 'inv_freq'");
}

TEST(DescribeMismatch, OptionalOutputMayBeMissingButNotWrong) {
  const Case c = Case::Parse("attention H=1 S=4 D=4");
  Tensors outputs = EvaluateByRecipe({c, DrawInputs(c), ParseRecipe("native", c.dtype())});
  EXPECT_EQ(DescribeMismatch(c, outputs), "");
  outputs[1].values = Tensor<double>({1});
  EXPECT_EQ(DescribeMismatch(c, outputs), "lse has shape [1], expected [1,1,4]");
  outputs.pop_back();
  EXPECT_EQ(DescribeMismatch(c, outputs), "");
}

}  // namespace
}  // namespace sextant::oracle
