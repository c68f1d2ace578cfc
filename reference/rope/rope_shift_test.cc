#include "reference/rope/rope_shift.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;

TEST(RopeShift, RotatesEachKeyByTheDeltaOfItsSequence) {
  EXPECT_THAT(DoublesOf("rope_shift pairing=half B=2 K=1 T=2 D=2 @k=1,0 @delta=1,-2"),
              ElementsAre(std::cos(1), std::sin(1), std::cos(1), std::sin(1), std::cos(2),
                          -std::sin(2), std::cos(2), -std::sin(2)));
}

TEST(RopeShift, DeltaZeroIsTheIdentity) {
  const Proof proof = ProofOf("rope_shift pairing=half K=2 T=3 D=8 dtype=bf16 @delta=0");
  EXPECT_EQ(proof.golden[0].value.data, proof.inputs[0].values.data);
}

TEST(RopeShift, IsRopeAtPositionDelta) {
  const std::string shared =
      " pairing=interleaved base=500000 scaling=llama3 D=8 R=6 offset=1 direction=transpose";
  const std::string numbers = "=1,-2,3,0.5,5,-6,7,8";
  EXPECT_EQ(DoublesOf("rope_shift K=1 T=1" + shared + " @delta=-777 @k" + numbers),
            DoublesOf("rope H=1 S=1" + shared + " @position=-777 @x" + numbers));
}

// The cached keys contain the amplitude already, so a shift by 0 does not change them.
TEST(RopeShift, DoesNotApplyTheAmplitudeAgain) {
  for (const char* scaling :
       {"yarn(factor=4,original_max_position_embeddings=4096)",
        "longrope(short_factor=[1,1,1,1],long_factor=[2,2,2,2],"
        "original_max_position_embeddings=4096,factor=32)",
        "longrope(short_factor=[1,1,1,1],long_factor=[2,2,2,2],"
        "original_max_position_embeddings=4096,factor=32,short_mscale=1.5,long_mscale=2)",
        "explicit(inv_freq=[1,1,1,1],attention_factor=1.5)"}) {
    const Proof proof = ProofOf(
        std::string("rope_shift pairing=half K=1 T=2 D=8 dtype=f64 @delta=0 scaling=") + scaling);
    EXPECT_EQ(proof.golden[0].value.data, proof.inputs[0].values.data) << scaling;
  }
}

// R = 0: a layer without rotation (NoPE).
TEST(RopeShift, IsTheIdentityWithoutRotatedChannels) {
  const Proof proof = ProofOf("rope_shift pairing=half K=2 T=2 D=6 R=0 @delta=-5");
  EXPECT_EQ(proof.golden[0].value.data, proof.inputs[0].values.data);
  EXPECT_THAT(proof.golden[0].permitted.data, testing::Each(0));
}

}  // namespace
}  // namespace sextant
