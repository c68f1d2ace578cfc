#include "oracle/rope/decoding_property.h"

#include <gtest/gtest.h>

#include "oracle/catalog/defect_subject.h"
#include "oracle/defect/defect.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

constexpr double kFirstPosition = 2040;

Ask AskOf(const Subject& subject) {
  return [subject](const Case& c, const Tensors& inputs) {
    return Response{subject.answer(c, inputs).outputs,
                    PermittedErrors({c, inputs, ParseRecipe(subject.recipe, c.dtype())})};
  };
}

struct Question {
  explicit Question(const std::string& words)
      : c(Case::Parse("rope pairing=half B=1 H=2 S=4 D=8 R=8 dtype=f32 seed=1 " + words)),
        inputs(DrawInputs(c)) {
    for (size_t i = 0; i < 4; ++i)
      inputs[1].values.data[i] = kFirstPosition + static_cast<double>(i);
  }
  Case c;
  Tensors inputs;
};

// True if decoding equals prefill, also in cases to which the property does not apply.
bool Holds(const std::string& words, const Subject& subject = RecipeSubject("native")) {
  const Question question(words);
  const Comparisons comparisons =
      CompareDecodingWithPrefill(question.c, question.inputs, AskOf(subject));
  EXPECT_EQ(comparisons.count(), 64u);
  return comparisons.Hold();
}

// True if the property applies to the case.
bool Applies(const std::string& words) {
  const Question question(words);
  const Ask ask = AskOf(RecipeSubject("native"));
  return DecodingIsPrefill().check(question.c, question.inputs, ask).count() > 0;
}

const std::string kDynamic = "scaling=dynamic(factor=4,max_position_embeddings=2048)";
const std::string kLongRope =
    "scaling=longrope(short_factor=[1,1.5,2,3],long_factor=[1,4,8,40],"
    "original_max_position_embeddings=4096,factor=32)";

TEST(DecodingIsPrefill, HoldsWhereFrequenciesDoNotDependOnTheLength) {
  EXPECT_TRUE(Holds("scaling=none seq_len=4"));
  EXPECT_TRUE(Holds("scaling=yarn(factor=4,original_max_position_embeddings=4096) seq_len=9000"));
  EXPECT_TRUE(Holds(kDynamic + " seq_len=2048"));
  EXPECT_TRUE(Holds(kLongRope + " seq_len=4096"));
  EXPECT_TRUE(Holds(kLongRope + " seq_len=9000"));  // long before and after
}

// Two of four tokens are cached while the sequence is two tokens shorter. Every token beyond the
// trained context changes dynamic frequencies; only the first one changes those of longrope.
TEST(DecodingIsPrefill, DoesNotHoldBeyondTheContextOfDynamic) {
  for (const char* length : {"2049", "2050", "2051", "9000"}) {
    const std::string words = kDynamic + " seq_len=" + length;
    EXPECT_FALSE(Holds(words)) << length;
    EXPECT_FALSE(Applies(words)) << length;
  }
  EXPECT_TRUE(Applies(kDynamic + " seq_len=2048"));
}

TEST(DecodingIsPrefill, DoesNotHoldAcrossTheContextOfLongRope) {
  for (const char* length : {"4097", "4098"}) {
    const std::string words = kLongRope + " seq_len=" + length;
    EXPECT_FALSE(Holds(words)) << length;
    EXPECT_FALSE(Applies(words)) << length;
  }
  EXPECT_TRUE(Applies(kLongRope + " seq_len=4099"));
}

// The positions of new tokens start at 0 although the cache holds keys.
TEST(DecodingIsPrefill, IsBrokenByPositionsThatStartAtZero) {
  EXPECT_FALSE(Holds("scaling=none", DefectSubject("rope/positions_counted_from_zero")));
}

}  // namespace
}  // namespace sextant::oracle
