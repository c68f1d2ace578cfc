// Logits of 16 bits conform by recipes that store results in 16 bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "oracle/catalog/catalog.h"
#include "oracle/judge/judge.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

constexpr size_t kLogits = 0;

// By recipe `native` intermediates have 16 bits, and their errors hide those of rounded logits. In
// f32 nothing hides them.
class SixteenBitLogits : public testing::TestWithParam<const char*> {
 public:
  std::string Stored(const std::string& recipe) const { return recipe + " store=" + GetParam(); }
  Tensors AnswersBy(const std::string& recipe) const {
    return EvaluateByRecipe({c, inputs, ParseRecipe(recipe, c.dtype())});
  }
  bool Conform(const Tensors& answer, const std::string& recipe) const {
    const Judge judge(c, inputs, ParseRecipe(recipe, c.dtype()));
    return judge.Evaluate(answer).status == Verdict::Status::kConforms;
  }

  const Case c = Case::Parse("decoder pairing=half V=5 L=2 S=3 M=4 H=2 K=1 D=4 F=3 dtype=" +
                             std::string(GetParam()));
  const Tensors inputs = DrawInputs(c);
};

TEST_P(SixteenBitLogits, ConformByARecipeThatStoresThem) {
  for (const std::string recipe : {"native", "*=f32"}) {
    const Tensors narrow = AnswersBy(Stored(recipe));
    ASSERT_TRUE(std::ranges::all_of(narrow[kLogits].values.data,
                                    [&](double x) { return RoundTo(c.dtype(), x) == x; }));
    EXPECT_TRUE(Conform(narrow, Stored(recipe))) << recipe;
  }
  EXPECT_FALSE(Conform(AnswersBy(Stored("*=f32")), "*=f32"));
}

TEST_P(SixteenBitLogits, AreNotRequired) {
  for (const std::string recipe : {"native", "*=f32"}) {
    const Tensors wide = AnswersBy(recipe);
    EXPECT_NE(wide[kLogits].values.data, AnswersBy(Stored(recipe))[kLogits].values.data);
    EXPECT_TRUE(Conform(wide, recipe));
    EXPECT_TRUE(Conform(wide, Stored(recipe)));
  }
}

TEST_P(SixteenBitLogits, FailByThisRecipeIfTheyAreWrong) {
  Tensors off = AnswersBy(Stored("*=f32"));
  double& logit = off[kLogits].values.data[3];
  logit = NextUp(c.dtype(), NextUp(c.dtype(), logit));
  EXPECT_FALSE(Conform(off, Stored("*=f32")));
  const Recipe native = ParseRecipe(Stored("native"), c.dtype());
  for (const char* name : {"last_norm_missing", "head_tied"}) {
    const auto hypothesis = DefectNamed("decoder", name).hypothesis(c, inputs, native);
    ASSERT_TRUE(hypothesis) << name;
    EXPECT_FALSE(Conform(Predict(*hypothesis, c), Stored("native"))) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Types, SixteenBitLogits, testing::Values("bf16", "f16"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sextant::oracle
