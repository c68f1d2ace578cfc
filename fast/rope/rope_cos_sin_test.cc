// Tables from the configuration: every entry is the exact value, rounded once to the dtype.
#include "fast/kernel/proven_test.h"

namespace sextant::fast {
namespace {

void ExpectRoundedOnce(const std::string& line) {
  SCOPED_TRACE(line);
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  const auto golden = Prove({c, inputs, ParseRecipe(kRecipe, c.dtype())});
  OnAllTargets([&] {
    const Tensors outputs = AnswerOf(c, inputs);
    ASSERT_EQ(outputs.size(), golden.size());
    for (size_t o = 0; o < golden.size(); ++o) {
      ASSERT_EQ(outputs[o].name, golden[o].name);
      ASSERT_EQ(outputs[o].values.shape, golden[o].value.shape);
      ASSERT_EQ(outputs[o].values.data, golden[o].value.data);
    }
  });
}

class RopeCosSinTest : public testing::TestWithParam<const char*> {
 public:
  static void Check(const std::string& words) {
    for (const char* layout : {"half_width", "halves", "interleaved"}) {
      ExpectRoundedOnce("rope_cos_sin " + words + " layout=" + layout + " dtype=" + GetParam());
    }
  }
};

TEST_P(RopeCosSinTest, RoundsOnceAtEveryWidth) {
  for (int pairs = 0; pairs <= 17; ++pairs) {  // 2N + 1 of the widest vectors, N = 8
    Check("B=2 @position=-3,1,4097,0,131071,2 S=3 R=" + std::to_string(2 * pairs));
  }
  Check("@position=1,16777217 R=66");  // 2N + 1 of the widest vectors of 16-bit elements
}

TEST_P(RopeCosSinTest, AppliesScalingsAndAmplitudes) {
  for (const char* scaling :
       {"linear(factor=2.5)", "ntk(factor=4)", "llama3(factor=8)",
        "yarn(factor=4,original_max_position_embeddings=4096)",
        "dynamic(factor=10,max_position_embeddings=2048) seq_len=16384",
        "proportional(partial_rotary_factor=0.5)",
        "longrope(short_factor=[1,1.5,2],long_factor=[2,40.5,9],original_max_position_embeddings="
        "4096,factor=32) seq_len=4097",
        "explicit(inv_freq=[1,0.3,0],attention_factor=-1.2)"}) {
    Check(std::string("R=6 @position=0,1,9999 scaling=") + scaling);
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, RopeCosSinTest, testing::Values("f64", "f32", "bf16", "f16"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sextant::fast
