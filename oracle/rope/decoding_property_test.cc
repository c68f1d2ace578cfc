#include "oracle/rope/decoding_property.h"

#include <gtest/gtest.h>

#include "oracle/catalog/defect_subject.h"
#include "oracle/defect/defect.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

constexpr double kFirst = 2040;  // position of the first token

Ask AskOf(const Subject& subject) {
  return [subject](const Case& c, const Tensors& inputs) {
    return Response{subject.answer(c, inputs).outputs,
                    Permit(c, inputs, ParseRecipe(subject.recipe, c.dtype()))};
  };
}

struct Question {
  explicit Question(const std::string& words)
      : c(Case::Parse("rope pairing=half B=1 H=2 S=4 D=8 R=8 dtype=f32 seed=1 " + words)),
        inputs(DrawInputs(c)) {
    for (size_t i = 0; i < 4; ++i) inputs[1].values.data[i] = kFirst + static_cast<double>(i);
  }
  Case c;
  Tensors inputs;
};

// What the comparison finds, wherever the property speaks.
bool Holds(const std::string& words, const Subject& subject = RecipeSubject("native")) {
  const Question asked(words);
  const Findings findings = DecodedAgainstPrefilled(asked.c, asked.inputs, AskOf(subject));
  EXPECT_EQ(findings.count(), 64u);
  return findings.Hold();
}

// Whether the property says anything of a case.
bool Speaks(const std::string& words) {
  const Question asked(words);
  const Ask ask = AskOf(RecipeSubject("native"));
  return DecodingIsPrefill().check(asked.c, asked.inputs, ask).count() > 0;
}

const std::string kDynamic = "scaling=dynamic(factor=4,max_position_embeddings=2048)";
const std::string kLongRope =
    "scaling=longrope(short_factor=[1,1.5,2,3],long_factor=[1,4,8,40],"
    "original_max_position_embeddings=4096,factor=32)";

TEST(DecodingIsPrefill, HoldsWhereFrequenciesDoNotFollowTheLength) {
  EXPECT_TRUE(Holds("scaling=none seq_len=4"));
  EXPECT_TRUE(Holds("scaling=yarn(factor=4,original_max_position_embeddings=4096) seq_len=9000"));
  EXPECT_TRUE(Holds(kDynamic + " seq_len=2048"));
  EXPECT_TRUE(Holds(kLongRope + " seq_len=4096"));
  EXPECT_TRUE(Holds(kLongRope + " seq_len=9000"));  // long before and after
}

// With two tokens cached when the sequence had two fewer. Every token beyond the context changes
// dynamic frequencies; those of longrope change with the first one.
TEST(DecodingIsPrefill, DoesNotHoldBeyondTheContextOfDynamic) {
  for (const char* length : {"2049", "2050", "2051", "9000"}) {
    const std::string words = kDynamic + " seq_len=" + length;
    EXPECT_FALSE(Holds(words)) << length;
    EXPECT_FALSE(Speaks(words)) << length;
  }
  EXPECT_TRUE(Speaks(kDynamic + " seq_len=2048"));
}

TEST(DecodingIsPrefill, DoesNotHoldAcrossTheContextOfLongRope) {
  for (const char* length : {"4097", "4098"}) {
    const std::string words = kLongRope + " seq_len=" + length;
    EXPECT_FALSE(Holds(words)) << length;
    EXPECT_FALSE(Speaks(words)) << length;
  }
  EXPECT_TRUE(Speaks(kLongRope + " seq_len=4099"));
}

// New tokens counted from 0, though keys are in the cache.
TEST(DecodingIsPrefill, IsBrokenByPositionsOfTheChunk) {
  EXPECT_FALSE(Holds("scaling=none", DefectSubject("rope/positions_counted_from_zero")));
}

}  // namespace
}  // namespace sextant::oracle
