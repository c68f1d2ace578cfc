#include "reference/case/former_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error_test.h"
#include "reference/case/operations.h"
#include "reference/case/question.h"

namespace sextant {
namespace {

using testing::HasSubstr;
using testing::Optional;
using testing::StrEq;

TEST(FormerNames, BecomeOptionalInputs) {
  EXPECT_THAT(LineOfToday("attention_bias S=3"), Optional(StrEq("attention with=bias S=3")));
  EXPECT_THAT(LineOfToday("attention_sink window=[2,0] @sink=20  # why"),
              Optional(StrEq("attention with=sink window=[2,0] @sink=20")));
  EXPECT_THAT(LineOfToday("linear_bias N=1 F=2 M=3"),
              Optional(StrEq("linear with=bias N=1 F=2 M=3")));
  EXPECT_THAT(LineOfToday("feed_forward_bias kind=glu"),
              Optional(StrEq("feed_forward with=gate_bias,up_bias,down_bias kind=glu")));
}

TEST(FormerNames, FormerAttributesHaveOtherWordsOrNone) {
  EXPECT_THAT(LineOfToday("attention_bias scale_bias=true S=3"),
              Optional(StrEq("attention with=bias add_bias=before_scale S=3")));
  EXPECT_THAT(LineOfToday("attention_bias scale_bias=false S=3"),
              Optional(StrEq("attention with=bias S=3")));
  EXPECT_THAT(LineOfToday("decoder_block_normed qk_norm=none placement=sandwich"),
              Optional(StrEq("decoder_block placement=sandwich")));
  EXPECT_THAT(LineOfToday("decoder_block_normed qk_norm=head"),
              Optional(StrEq("decoder_block qk_norm=head")));
}

TEST(FormerNames, OtherLinesHaveNone) {
  EXPECT_EQ(LineOfToday("attention with=bias S=3"), std::nullopt);
  EXPECT_EQ(LineOfToday(""), std::nullopt);
}

TEST(FormerNames, ErrorsPrintTheLineOfToday) {
  const auto today = HasSubstr("expected: attention with=bias S=1 H=1 D=2");
  const std::string line = "attention_bias S=1 H=1 D=2";
  EXPECT_THAT(MessageOf([&] { Case::Parse(line); }), today);
  EXPECT_THAT(MessageOf([&] { ParseQuestion(line, {}); }), today);
  EXPECT_THAT(MessageOf([] { MakeOperationNamed("attention_sink"); }),
              HasSubstr("expected: attention with=sink"));
}

TEST(FormerNames, OfPatternsAreErrors) {
  const auto error = [](std::string_view pattern) {
    return MessageOf([&] { RequireNamesOfToday("known.toml:3", pattern); });
  };
  EXPECT_EQ(error("attention_bias *dtype=bf16*"),
            "known.toml:3: 'attention_bias' is called 'attention with=bias' now");
  EXPECT_THAT(error("*linear_bias"), HasSubstr("'linear with=bias'"));
  EXPECT_EQ(error("attention with=bias *"), "");
  EXPECT_EQ(error("attention_bias_free"), "");
  EXPECT_EQ(error(""), "");
}

}  // namespace
}  // namespace sextant
