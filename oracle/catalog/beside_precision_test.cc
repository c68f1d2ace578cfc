#include "oracle/catalog/beside_precision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// What is said of the answer with other attributes, computed by another recipe.
std::vector<std::string> CausesBesidePrecision(const std::string& line, const std::string& words,
                                               const std::string& recipe) {
  const DrawnCase question(line);
  Case computed = question.c;
  std::istringstream each(words);
  for (std::string word; each >> word;) computed = computed.With(word);
  const Tensors answer =
      EvaluateByRecipe({computed, question.inputs, ParseRecipe(recipe, question.c.dtype())});
  const Judge judge(question.c, question.inputs, question.recipe);
  std::vector<std::string> names;
  for (const Cause& cause : CausesBesideAPrecision({question.c, question.inputs, question.recipe,
                                                    judge.golden(), judge.permitted(), answer},
                                                   {}))
    names.push_back(cause.name + ": " + cause.why);
  return names;
}

constexpr char kRope[] = "rope pairing=half H=2 S=12 D=32 @position=random_positions(4096)";

TEST(CausesBesideAPrecision, NamesBoth) {
  EXPECT_THAT(CausesBesidePrecision(kRope, "base=500000", "native table=bf16"),
              ElementsAre("base=500000+precision: always computes with base=500000; besides, its "
                          "errors are such as `native table=bf16` permits"));
  EXPECT_THAT(
      CausesBesidePrecision("rms_norm N=8 M=64", "eps=0.5", "native weigh=bf16"),
      ElementsAre(testing::StartsWith("eps_changed+precision: eps is 0.5, expected 1e-05; ")));
}

TEST(CausesBesideAPrecision, OfHonestPrecisionsAreNone) {
  EXPECT_THAT(CausesBesidePrecision(kRope, "", "native table=bf16"), IsEmpty());
  EXPECT_THAT(CausesBesidePrecision(kRope, "", "native table=bf16 rotate=bf16"), IsEmpty());
  EXPECT_THAT(CausesBesidePrecision(kRope, "", "native angle=f16 table=bf16"), IsEmpty());
  EXPECT_THAT(CausesBesidePrecision("rms_norm N=8 M=64", "", "native rsqrt=bf16 weigh=bf16"),
              IsEmpty());
}

}  // namespace
}  // namespace sextant::oracle
