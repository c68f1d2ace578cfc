#include "reference/rope/rope_sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/base/error_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<size_t> AxesOf(std::vector<int64_t> sections, SectionOrder order, int64_t R) {
  RopeSections op;
  op.A.value = static_cast<int64_t>(sections.size());
  op.sections = std::move(sections);
  op.order = order;
  op.D.value = op.R.value = R;
  op.Check();
  return op.Axes();
}

TEST(RopeSections, ContiguousSectionsAreConsecutive) {
  EXPECT_THAT(AxesOf({2, 1, 3}, SectionOrder::kContiguous, 12), ElementsAre(0, 0, 1, 2, 2, 2));
  EXPECT_THAT(AxesOf({0, 2, 0}, SectionOrder::kContiguous, 4), ElementsAre(1, 1));
}

TEST(RopeSections, InterleavedAxesAlternateAndAxisZeroHasTheRest) {
  EXPECT_THAT(AxesOf({4, 2, 1}, SectionOrder::kInterleaved, 14), ElementsAre(0, 1, 2, 0, 1, 0, 0));
}

// Qwen3-VL's [24,20,20] of 64 pairs: t, h and w alternate; the last pair of h is 58, the last of w
// is 59, and all later pairs belong to t.
TEST(RopeSections, InterleavedMatchesQwen3VL) {
  const auto axes = AxesOf({24, 20, 20}, SectionOrder::kInterleaved, 128);
  EXPECT_EQ(std::ranges::count(axes, 0u), 24);
  EXPECT_EQ(std::ranges::count(axes, 1u), 20);
  EXPECT_EQ(std::ranges::count(axes, 2u), 20);
  EXPECT_EQ(axes[58], 1u);
  EXPECT_EQ(axes[59], 2u);
  EXPECT_THAT(std::vector(axes.begin() + 60, axes.end()), ElementsAre(0, 0, 0, 0));
}

// ERNIE-4.5-VL: rows and columns alternate, time has the last pairs.
TEST(RopeSections, TrailingPutsAxisZeroLast) {
  EXPECT_THAT(AxesOf({3, 2, 2}, SectionOrder::kTrailing, 14), ElementsAre(1, 2, 1, 2, 0, 0, 0));
  EXPECT_THAT(AxesOf({0, 1, 1, 1}, SectionOrder::kTrailing, 6), ElementsAre(1, 2, 3));
  EXPECT_THAT(AxesOf({2}, SectionOrder::kTrailing, 4), ElementsAre(0, 0));
}

// Frequencies 1 and 1/2: the first pair rotates by position 3 of axis 0, the second by half of
// position -4 of axis 1.
TEST(RopeSections, RotatesEachPairByThePositionOfItsAxis) {
  EXPECT_THAT(DoublesOf("rope_sections sections=[1,1] order=contiguous pairing=half base=4 A=2 H=1 "
                        "S=1 D=4 @x=1,1,0,0 @position=3,-4"),
              ElementsAre(std::cos(3), std::cos(2), std::sin(3), -std::sin(2)));
}

TEST(RopeSections, EqualPositionsOnAllAxesAreRope) {
  const std::string shared = " pairing=interleaved H=1 S=1 D=8 R=6 offset=1 dtype=f32 ";
  const std::string numbers = "@x=1,-2,3,0.5,5,-6,7,8 @position=70001";
  for (const std::string order : {"contiguous", "interleaved", "trailing"}) {
    EXPECT_EQ(DoublesOf("rope_sections sections=[1,1,1] A=3 order=" + order + shared + numbers),
              DoublesOf("rope" + shared + numbers));
  }
}

std::string Refusal(const std::string& words) {
  return MessageOf([&] { Case::Parse("rope_sections pairing=half H=1 S=1 D=12 " + words); });
}

TEST(RopeSections, RefusesSectionsThatDoNotFit) {
  const std::string contiguous = "order=contiguous A=3 sections=";
  EXPECT_EQ(Refusal(contiguous + "[2,2,2]"), "");
  EXPECT_THAT(Refusal(contiguous + "[2,2,1]"), HasSubstr("[2,2,1], expected a sum of 6"));
  EXPECT_THAT(Refusal(contiguous + "[9223372036854775807,9223372036854775807,8]"),
              HasSubstr("expected a sum of 6"));
  EXPECT_THAT(Refusal(contiguous + "[3,3]"), HasSubstr("each of the A = 3 axes"));
  EXPECT_THAT(Refusal("order=trailing sections=[1,2,3]"),
              HasSubstr("[1,2,3], expected the same number for axes 1 to 2"));
  EXPECT_EQ(Refusal("order=contiguous sections=[2,2,2]"), "");  // A = 3 follows from the list
  EXPECT_THAT(Refusal("order=contiguous sections=[]"), HasSubstr("A = 0"));
  EXPECT_THAT(Refusal(contiguous + "[4,4,-2]"), HasSubstr("expected no negative number"));
  EXPECT_THAT(Refusal(contiguous + "2,2,2"), HasSubstr("'2,2,2' is not a list, expected [2,2,2]"));
  EXPECT_THAT(Refusal(contiguous + "[2,2,2,]"), HasSubstr("ends with a comma"));
  EXPECT_THAT(Refusal("order=interleaved A=3 sections=[1,3,2]"),
              HasSubstr("expected at most 2 for axis 1"));
}

}  // namespace
}  // namespace sextant
