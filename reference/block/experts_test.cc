#include "reference/block/experts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/base/error_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::Each;
using testing::ElementsAre;

// Three experts of one hidden channel: relu(gate x) up x down. For x = 2 they are 2 * 4 * 1,
// 0 * 2 * 10 and 6 * 2 * 100; for x = -1 they are 0, 1 * -1 * 10 and 0.
constexpr char kThree[] = " kind=reglu E=3 M=1 F=1 @gate=1,-1,3 @up=2,1,1 @down=1,10,100 ";

TEST(Experts, AreTheWeightedSumOfThoseThatWereChosen) {
  EXPECT_THAT(DoublesOf(std::string("experts N=2 K=2") + kThree +
                        "@x=2,-1 @indices=2,0,1,1 @weights=0.5,3,2,0.25"),
              ElementsAre(600 + 24, -20 - 2.5));
}

TEST(Experts, AWeightMayMultiplyTheInput) {
  // 4 * 8 of x = 1 * 4, and 0 for -4
  EXPECT_THAT(DoublesOf(std::string("experts weigh=input N=2 K=1") + kThree +
                        "@x=1,-1 @indices=0,0 @weights=4,4"),
              ElementsAre(32, 0));
}

TEST(Experts, AreZeroWithoutAny) {
  EXPECT_THAT(DoublesOf(std::string("experts N=2 K=0") + kThree + "@x=1,-1"), Each(0));
}

TEST(Experts, RefuseAnIndexThatIsNoExpert) {
  for (const char* index : {"3", "-1"})
    EXPECT_EQ(MessageOf([&] {
                ProofOf(std::string("experts N=1 K=2") + kThree + "@x=1 @weights=1,1 @indices=0," +
                        index);
              }),
              std::string("experts: indices[0,1] is ") + index + ", expected 0 to E-1: E is 3");
}

}  // namespace
}  // namespace sextant
