// Answers with errors of the size of a recipe, and the defects that they are not, or are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "oracle/catalog/catalog.h"
#include "oracle/catalog/causes_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

// Few elements fail, by errors that another recipe permits: some defect says the right numbers by
// accident.
TEST(FewErrors, FewErrorsOfTheSizeOfARecipeAccuseNoDefect) {
  struct Question {
    const char *line, *recipe;  // of the answer
    const char* conforming;
  };
  for (const auto& [line, recipe, conforming] :
       {Question{"activation kind=swish N=1 F=6 dtype=f32 @x=-100,-90,-88.5,88.5,100,1000",
                 "f32_compute flush", "f32_compute flush"},
        Question{"attention mask=none window=[1,-1] H=1 S=3 T=6 D=4 E=2 dtype=f16",
                 "f32_compute weigh=T", "f32_compute scale=T"}}) {
    const AskedCase question(line, "f32_compute");
    const auto parsed = [&](const char* text) { return ParseRecipe(text, question.c.dtype()); };
    const Tensors answer = EvaluateByRecipe({question.c, question.inputs, parsed(recipe)});
    const Judge judge(question.c, question.inputs, question.recipe);
    ASSERT_EQ(judge.Evaluate(answer).status, Verdict::Status::kFails) << line;
    const Observation seen{question.c,     question.inputs,   question.recipe,
                           judge.golden(), judge.permitted(), answer};
    EXPECT_THAT(CausesOf(seen, {}, {.recipes = {parsed(conforming)}}), IsEmpty()) << line;
  }
}

// As ggml computes gelu, and as its flash attention adds.
TEST(FewErrors, NamesTablesAndSumsOfF16) {
  for (const auto& [line, operation, name] :
       {std::tuple("activation kind=gelu_tanh N=1 F=40 @x=uniform(-12,12)", "activation",
                   "table_of_f16"),
        std::tuple("attention mask=causal H=2 S=6 T=9 D=8 E=8 dtype=f16", "attention",
                   "values_summed_in_f16")}) {
    const AskedCase question(line, "f32_compute");
    const Tensors answer = question.Predicted(DefectNamed(operation, name));
    EXPECT_THAT(question.Causes(answer), Contains(StartsWith(name))) << line;
  }
}

// 4096 equal weights: the sum of ones stops at 2048.
TEST(FewErrors, SumsOfF16StopGrowingAt2048) {
  const AskedCase question("attention scale=1 mask=none H=1 S=1 T=4096 D=1 E=1 dtype=f16 @q=0 @v=1",
                           "f32_compute");
  const Tensors answer = question.Predicted(DefectNamed("attention", "values_summed_in_f16"));
  EXPECT_EQ(answer[0].values.data, std::vector<double>{0.5});
}

}  // namespace
}  // namespace sextant::oracle
