#include "oracle/subject/attributes_json.h"

#include <gtest/gtest.h>

namespace sextant::oracle {
namespace {

std::string Attributes(const std::string& line) {
  return PrintJson(AttributesJson(Case::Parse(line)));
}

std::string Scaling(const std::string& text, const std::string& more = "") {
  return PrintJson(
      AttributesJson(Case::Parse("rope_frequencies R=4 scaling=" + text + " " + more))["scaling"]);
}

TEST(AttributesJson, HasJsonTypesForAllAttributesAndDimensions) {
  EXPECT_EQ(Attributes("rope pairing=half base=500000 seq_len=7 H=2 S=3 D=8"),
            R"({"pairing":"half","base":500000,"scaling":{"type":"none"},"seq_len":7,"offset":0,)"
            R"("direction":"forward","B":1,"D":8,"H":2,"R":8,"S":3})");
  EXPECT_EQ(Attributes("rms_norm N=1 M=2 eps=1e-05 unit_offset=true"),
            R"({"eps":1e-05,"unit_offset":true,"M":2,"N":1})");
}

TEST(AttributesJson, HasNullForUnsetAttributes) {
  EXPECT_TRUE(AttributesJson(Case::Parse("rope_frequencies R=4"))["seq_len"].is_null());
}

TEST(AttributesJson, SaysOnlyWhatIsTold) {
  const ToldAttributes told = std::set<std::string>{"M", "eps"};
  const Case c = Case::Parse("rms_norm N=1 M=2 eps=1e-05 unit_offset=true");
  EXPECT_EQ(PrintJson(AttributesJson(c, told)), R"({"eps":1e-05,"unit_offset":null,"M":2,"N":1})");
  EXPECT_EQ(GapWords(c, told), (Metadata{{"said", R"(["M","eps"])"}}));
  EXPECT_EQ(GapWords(c, {}), Metadata());
}

TEST(AttributesJson, LeavesPresenceToTheInputs) {
  const Case c = Case::Parse("attention with=bias H=1 S=1 T=1 D=1");
  EXPECT_FALSE(AttributesJson(c).contains("with"));
  EXPECT_EQ(GapWords(c, {}), (Metadata{{"absent", R"(["sink","q_scale","k_scale","v_scale"])"}}));
  EXPECT_EQ(GapWords(c.With("with=bias,sink,q_scale,k_scale,v_scale"), {}), Metadata());
}

TEST(AttributesJson, HasListsAsLists) {
  const Json json = AttributesJson(Case::Parse(
      "rope_sections pairing=half sections=[1,2,1] order=contiguous B=1 H=1 S=1 D=8 A=3"));
  EXPECT_EQ(PrintJson(json["sections"]), "[1,2,1]");
}

TEST(AttributesJson, HasAScalingAsAnObjectOfAllItsParameters) {
  EXPECT_EQ(Scaling("none"), R"({"type":"none"})");
  EXPECT_EQ(Scaling("linear(factor=4)"), R"({"type":"linear","factor":4})");
  EXPECT_EQ(Scaling("llama3(factor=8,original_max_position_embeddings=8192)"),
            R"({"type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4,)"
            R"("original_max_position_embeddings":8192})");
  EXPECT_EQ(Scaling("yarn(factor=2.5,original_max_position_embeddings=32,truncate=false)"),
            R"({"type":"yarn","factor":2.5,"original_max_position_embeddings":32,"beta_fast":32,)"
            R"("beta_slow":1,"truncate":false,"ramp":"index","crossed":"reversed",)"
            R"("attention_factor":null,"mscale":null,"mscale_all_dim":null})");
  EXPECT_EQ(Scaling("explicit(inv_freq=[1,1e-30])"),
            R"({"type":"explicit","inv_freq":[1,1e-30],"attention_factor":1})");
}

}  // namespace
}  // namespace sextant::oracle
