#include "tools/api/unshown_attributes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/case/draw.h"

namespace sextant::tools {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Of the right answer to a case; `attribute` is that with which it is computed.
std::vector<std::string> UnshownOf(const std::string& line, const JudgeOptions& options = {},
                                   const std::string& attribute = "") {
  const Case c = Case::Parse(line), computed = Case::Parse(line + attribute);
  Question question{.c = c, .inputs = DrawInputs(c), .outputs = {}, .defaults = {}};
  const Recipe native = ParseRecipe("native", c.dtype());
  question.outputs = EvaluateByRecipe({computed, question.inputs, native});
  question.output_axes.resize(question.outputs.size());
  return JudgeQuestion(std::move(question), options).unshown;
}

// At position 0 nothing rotates, whatever the base.
TEST(UnshownAttributes, AreThoseThatMayBeTenTimesAsLarge) {
  EXPECT_THAT(UnshownOf("rope pairing=half B=1 H=1 S=1 D=4 @position=0"),
              ElementsAre("base=100000"));
  EXPECT_THAT(UnshownOf("rope pairing=half B=1 H=1 S=2 D=4 @position=5,8191"), IsEmpty());
  EXPECT_THAT(UnshownOf("rms_norm N=2 M=8 eps=1e-12"), ElementsAre("eps=1e-11"));
  EXPECT_THAT(UnshownOf("rms_norm N=2 M=8 eps=0.1"), IsEmpty());
}

// y = x / sqrt(0.3 + eps) w, of which 4e-7 are permitted: 1e-6 changes 1.6e-6 of it, and 1e-8 less.
TEST(UnshownAttributes, AreThoseThatMayBeATenth) {
  EXPECT_THAT(UnshownOf("rms_norm N=2 M=8 eps=1e-7"), ElementsAre("eps=1e-08"));
}

TEST(UnshownAttributes, OfAStrictVerdictAreNotThoseThatAreUnlikely) {
  const std::string line = "rms_norm N=64 M=256 eps=1e-5";
  EXPECT_THAT(UnshownOf(line), ElementsAre("eps=1e-06"));
  EXPECT_THAT(UnshownOf(line, {.recipe = "native", .strict = true}), IsEmpty());
}

TEST(UnshownAttributes, AreOnlyOfAnAnswerThatConformsAsAWhole) {
  const std::string line = "rms_norm N=2 M=8 eps=1e-12";
  EXPECT_THAT(UnshownOf(line, {.recipe = "native", .strict = true}), ElementsAre("eps=1e-11"));
  EXPECT_THAT(UnshownOf(line, {.recipe = "native", .budget = {.elements = 8}}), IsEmpty());
  EXPECT_THAT(UnshownOf(line, {}, " unit_offset=true"), IsEmpty());
}

}  // namespace
}  // namespace sextant::tools
