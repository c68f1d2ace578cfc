#include "tools/api/completed_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error.h"
#include "reference/base/error_test.h"

namespace sextant::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CompleteLine, AddsWhatTheLineDoesNotGive) {
  const ConfigChoice llama{.path = "fixtures/models/llama2_7b.json"};
  EXPECT_EQ(CompleteLine("rope S=1 base=7", llama),
            "rope D=128 H=32 R=128 pairing=half scaling=none S=1 base=7");
  EXPECT_EQ(CompleteLine("rope S=1", {}), "rope S=1");
  EXPECT_THROW(CompleteLine("no_operation", llama), Error);
}

// A comparison takes what the configuration says, and names the rest.
TEST(CompleteToCompare, NamesWhatTheConfigurationDoesNotSay) {
  const ConfigChoice phi{.path = "fixtures/models/phi3_mini_4k.json"};
  EXPECT_THROW(CompleteLine("attention", phi), Error);
  const ComparableLine compared = CompleteToCompare("attention soft_cap=9", phi);
  EXPECT_EQ(compared.line, "attention D=96 H=32 K=32 soft_cap=9");
  EXPECT_EQ(compared.facts, (Facts{{"D", "96"}, {"H", "32"}, {"K", "32"}}));
  EXPECT_THAT(compared.not_compared, ElementsAre("scale", "mask", "window", "chunk"));
  const ConfigChoice llama{.path = "fixtures/models/llama2_7b.json"};
  EXPECT_THAT(CompleteToCompare("attention", llama).not_compared, ElementsAre());
  EXPECT_THAT(CompleteToCompare("rope", llama).not_compared, ElementsAre());
}

// D and the like are widths of tensors: every subject computes with them.
TEST(CompleteToCompare, RefusesToCompareNothing) {
  const ConfigChoice pythia{.path = "fixtures/models/pythia_6_9b.json"};
  const auto message_of = [&](const std::string& line) {
    return MessageOf([&] { CompleteToCompare(line, pythia); });
  };
  EXPECT_THAT(message_of("gated"),
              HasSubstr("pythia_6_9b.json: the configuration says nothing about gated, whose "
                        "attributes depend on the model: kind beta limit alpha plus_one"));
  EXPECT_THAT(message_of("relative_attention"), HasSubstr("says nothing about"));
  EXPECT_EQ(message_of("attention"), "");
}

TEST(CompleteToCompare, IsTheLineWithoutAConfiguration) {
  const ComparableLine alone = CompleteToCompare("attention D=8", {});
  EXPECT_EQ(alone.line, "attention D=8");
  EXPECT_THAT(alone.not_compared, ElementsAre());
}

}  // namespace
}  // namespace sextant::tools
