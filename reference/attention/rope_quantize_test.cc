#include "reference/attention/rope_quantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/case/case.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;

// At position 0 nothing rotates; each head of each token has its scale.
TEST(RopeQuantize, AScaleForEachHeadAndToken) {
  const Case c = Case::Parse(
      "rope_quantize pairing=half H=2 S=2 D=2 dtype.codes=i8 @position=0,0 "
      "@x=127,1,254,4,-508,8,63.5,-1");
  const auto y = Prove({c, DrawInputs(c), ParseRecipe("native", DType::kF32)});
  EXPECT_THAT(y[0].value.data, ElementsAre(1, 2, 4, 0.5));
  EXPECT_THAT(y[1].value.data, ElementsAre(127, 1, 127, 2, -127, 2, 127, -2));
}

// Of the formula and of its alternative decision.
TEST(RopeQuantize, AlternativesHaveTheTypeOfTheCodes) {
  const Case c = Case::Parse(
      "rope_quantize pairing=half base=1000000 "
      "scaling=yarn(factor=4,original_max_position_embeddings=140663) H=2 S=3 D=80 "
      "@position=5,50,400 dtype.codes=i8");
  const Recipe recipe = ParseRecipe("native", DType::kF32);
  std::vector<std::unique_ptr<Operation>> all;
  {
    const ScopedRecipe following(recipe, DType::kF32);
    all = c.operation().Alternatives();
  }
  ASSERT_FALSE(all.empty());
  all.push_back(c.operation().Clone());
  for (const auto& operation : all) {
    const Tensors y = EvaluateByRecipe({c, DrawInputs(c), recipe, *operation});
    EXPECT_THAT(y[1].values.data, testing::Contains(testing::AnyOf(127, -127)));
    EXPECT_THAT(y[1].values.data, Each(testing::AllOf(testing::Ge(-127), testing::Le(127))));
  }
}

// (1, 0) turned by 1 is (cos 1, sin 1) = (0.54, 0.84): the second number is the largest.
TEST(RopeQuantize, TheScaleIsThatOfTheRotatedNumbers) {
  const Case c = Case::Parse(
      "rope_quantize pairing=half H=1 S=1 D=2 dtype=f64 dtype.codes=i8 @position=1 @x=1,0");
  const auto y = Prove({c, DrawInputs(c), ParseRecipe("native", DType::kF64)});
  EXPECT_DOUBLE_EQ(y[0].value.data[0], std::sin(1) / 127);
  EXPECT_THAT(y[1].value.data, ElementsAre(82, 127));
}

}  // namespace
}  // namespace sextant
