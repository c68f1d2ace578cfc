// Decoder blocks in all variants, and whole decoders.
#include "fast/block/decoder_block.h"

#include "fast/kernel/proven_test.h"

namespace sextant::fast {
namespace {

constexpr const char* kSizes = " S=3 M=5 H=2 K=1 D=4 F=3 ";

class RunBlockTest : public testing::TestWithParam<const char*> {
 public:
  static void Check(const std::string& words) { ExpectProven(words + " dtype=" + GetParam()); }
};

TEST_P(RunBlockTest, ErrorIsPermittedForEveryPlacement) {
  for (const char* placement : {"pre", "branch", "parallel", "sandwich"}) {
    for (const char* pairing : {"half", "interleaved"}) {
      Check(std::string("decoder_block pairing=") + pairing + " placement=" + placement + kSizes);
    }
  }
}

TEST_P(RunBlockTest, ErrorIsPermittedForEveryQkNorm) {
  for (const char* placement : {"pre", "branch", "parallel", "sandwich"}) {
    for (const char* qk_norm : {"head", "full"}) {
      Check(std::string("decoder_block pairing=half qk_norm=") + qk_norm +
            " placement=" + placement + kSizes);
    }
  }
}

TEST_P(RunBlockTest, RotatesAWindowOfEachHead) {
  for (const char* block : {"decoder_block", "decoder_block qk_norm=head"}) {
    for (const char* window : {" pairing=half R=4 offset=1", " pairing=interleaved R=2 offset=3"}) {
      Check(std::string(block) + window +
            " direction=transpose base=100 S=3 M=5 H=2 K=1 D=6 F=3"
            " scaling=yarn(factor=4,original_max_position_embeddings=64)");
    }
  }
}

TEST_P(RunBlockTest, ErrorIsPermittedAtEveryWidth) {
  for (const size_t n : {1, 2, 7, 8, 9, 16, 17, 33}) {
    const std::string N = std::to_string(n);
    Check("decoder_block pairing=half S=2 H=2 K=1 D=2 F=3 M=" + N);
    Check("decoder_block pairing=half S=2 H=2 K=1 D=2 M=3 F=" + N);
    Check("decoder_block pairing=half M=3 H=2 K=1 D=2 F=3 S=" + N);
    Check("decoder_block pairing=half S=2 M=3 H=2 K=1 F=3 D=" + std::to_string(2 * n));
  }
}

TEST_P(RunBlockTest, SharesKeyHeads) {
  for (const char* heads : {"H=4 K=1", "H=4 K=2", "H=4 K=4"}) {
    Check(std::string("decoder_block pairing=half qk_norm=head S=2 M=5 D=4 F=3 ") + heads);
  }
}

TEST_P(RunBlockTest, AppliesMasksCapAndEps) {
  for (const char* words :
       {"mask=none scale=0.25 soft_cap=2 eps=0.5 unit_offset=true", "window=[1,0] kind=geglu_tanh",
        "chunk=2 kind=geglu", "segments=[2] @position=0,1,0,1", "key_length=[3]",
        "mask=none key_length=[2]", "window=[1,0] key_length=[1] empty_rows=zero", "kind=reglu",
        "kind=glu"}) {
    Check(std::string("decoder_block pairing=half S=4 M=5 H=2 K=1 D=4 F=3 ") + words);
  }
}

TEST_P(RunBlockTest, ErrorOfDecodersIsPermitted) {
  for (const char* L : {"L=0", "L=1", "L=2"}) {
    Check(std::string("decoder pairing=half V=7 ") + L + kSizes);
    // A decoder does not output the intermediates of its blocks. Without eps, a small root would
    // make the permitted error infinite in bf16.
    Check(std::string("decoder pairing=half V=7 placement=branch eps=0.5 ") + L + kSizes);
  }
  Check(std::string("decoder pairing=half V=7 L=1 embedding_scale=2 unit_offset=true") + kSizes);
  for (const size_t V : {1, 8, 17}) {
    Check("decoder pairing=half L=1 logit_cap=2 V=" + std::to_string(V) + kSizes);
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, RunBlockTest, testing::Values("f64", "f32", "bf16", "f16"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sextant::fast
