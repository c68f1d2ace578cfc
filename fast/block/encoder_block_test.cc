#include "fast/block/encoder_block.h"

#include "fast/kernel/proven_test.h"

namespace sextant::fast {
namespace {

std::string Line(const std::string& shape, const std::string& dtype) {
  return "encoder_block " + shape + " dtype=" + dtype;
}

class EncodeTest : public testing::TestWithParam<const char*> {};

// With placement=post, very short rows are avoided: they would often have variance 0.
TEST_P(EncodeTest, ErrorIsPermittedAtEveryWidth) {
  for (const char* placement : {"placement=post ", "placement=pre "}) {
    for (const size_t M : {2, 7, 8, 16, 17, 33}) {
      ExpectProven(Line(placement + ("S=2 H=2 D=2 F=3 M=" + std::to_string(M)), GetParam()));
    }
    for (const size_t F : {1, 2, 8, 9, 16, 17, 33}) {
      ExpectProven(Line(placement + ("S=2 H=2 D=2 M=4 F=" + std::to_string(F)), GetParam()));
    }
  }
}

TEST_P(EncodeTest, ErrorIsPermittedForEveryNumberOfTokens) {
  for (const size_t S : {1, 2, 4, 5, 8, 9, 16, 17}) {
    ExpectProven(Line("M=4 H=2 D=2 F=3 S=" + std::to_string(S), GetParam()));
    ExpectProven(Line("M=4 H=2 D=2 F=3 mask=causal S=" + std::to_string(S), GetParam()));
  }
}

TEST_P(EncodeTest, ErrorIsPermittedForEveryActivation) {
  for (const char* kind : {"relu", "gelu", "gelu_tanh"}) {
    ExpectProven(Line(std::string("S=2 M=4 H=2 D=2 F=5 kind=") + kind, GetParam()));
  }
}

TEST_P(EncodeTest, AppliesMasksAndEps) {
  ExpectProven(Line("S=4 M=4 H=4 K=2 D=2 F=5 eps=0.5 mask=causal key_length=[3]", GetParam()));
  ExpectProven(Line("S=4 M=4 H=4 K=2 D=2 F=5 key_length=[0] empty_rows=zero", GetParam()));
}

INSTANTIATE_TEST_SUITE_P(AllTypes, EncodeTest, testing::Values("f64", "f32", "bf16", "f16"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace sextant::fast
