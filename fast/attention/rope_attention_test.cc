// Attention of queries and keys that are rotated, each by their own positions.
#include "fast/kernel/proven_test.h"

namespace sextant::fast {
namespace {

class RopeAttentionTest : public testing::TestWithParam<const char*> {
 public:
  static void Check(const std::string& words) {
    ExpectProven("rope_attention " + words + " dtype=" + GetParam());
  }
};

TEST_P(RopeAttentionTest, RotatesQueriesAndKeysByTheirOwnPositions) {
  for (const char* pairing : {"half", "interleaved"}) {
    Check(std::string("B=2 H=2 K=1 S=2 T=4 D=6 E=3 @position_q=2,3,9,12 "
                      "@position_k=0,1,2,3,7,8,10,30 pairing=") +
          pairing);
  }
}

TEST_P(RopeAttentionTest, RotatesAWindowOfEachHead) {
  Check("pairing=half H=2 K=2 S=3 T=3 D=8 E=2 R=4 offset=2 mask=causal");
  Check("pairing=interleaved direction=transpose base=100 H=1 S=2 T=3 D=6 E=2 R=2 offset=3");
}

TEST_P(RopeAttentionTest, ErrorIsPermittedAtEveryWidth) {
  for (const size_t n : {1, 2, 4, 7, 8, 9, 16, 17, 33}) {
    const std::string N = std::to_string(n);
    Check("pairing=half H=2 K=1 S=2 T=3 E=3 D=" + std::to_string(2 * n));
    Check("pairing=half H=2 K=1 S=2 T=3 D=4 E=" + N);
    Check("pairing=half H=2 K=1 S=2 D=4 E=3 T=" + N);
  }
}

TEST_P(RopeAttentionTest, AppliesMasksScaleAndCap) {
  Check("pairing=half H=4 K=2 S=3 T=5 D=4 E=3 mask=causal window=[1,0] scale=0.25 soft_cap=2");
  Check("pairing=half H=1 S=5 T=3 D=4 E=2 mask=causal empty_rows=zero");
  Check(
      "pairing=half scaling=yarn(factor=4,original_max_position_embeddings=64) H=1 S=2 T=5 D=4 E=2 "
      "key_length=[3]");
}

INSTANTIATE_TEST_SUITE_P(AllTypes, RopeAttentionTest, testing::Values("f64", "f32", "bf16", "f16"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sextant::fast
