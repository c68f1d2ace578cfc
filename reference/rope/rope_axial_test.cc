#include "reference/rope/rope_axial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "reference/base/error_test.h"
#include "reference/prove/proof_test.h"

namespace sextant {
namespace {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

const std::string kTwoAxes =
    "rope_axial base=4 A=2 H=1 S=1 D=8 dtype=f64 @position=1,-2 frequencies=lang ";

// Two pairs per axis, with frequencies 1 and 1/2: angles 1 and 1/2 for rows, -2 and -1 for columns.
TEST(RopeAxial, BlocksPairChannelsWithinAnAxis) {
  EXPECT_THAT(DoublesOf(kTwoAxes + "arrangement=blocks pairing=half @x=1,1,0,0,1,1,0,0"),
              ElementsAre(DoubleEq(std::cos(1)), DoubleEq(std::cos(.5)), DoubleEq(std::sin(1)),
                          DoubleEq(std::sin(.5)), DoubleEq(std::cos(2)), DoubleEq(std::cos(1)),
                          DoubleEq(-std::sin(2)), DoubleEq(-std::sin(1))));
}

TEST(RopeAxial, HalvesPairOverAllChannels) {
  EXPECT_THAT(DoublesOf(kTwoAxes + "arrangement=halves pairing=half @x=1,1,1,1,0,0,0,0"),
              ElementsAre(DoubleEq(std::cos(1)), DoubleEq(std::cos(.5)), DoubleEq(std::cos(2)),
                          DoubleEq(std::cos(1)), DoubleEq(std::sin(1)), DoubleEq(std::sin(.5)),
                          DoubleEq(-std::sin(2)), DoubleEq(-std::sin(1))));
}

// One list 16^0, 16^-1/4, 16^-1/2, 16^-3/4 = 1, 1/2, 1/4, 1/8: rows use indices 0 and 2, columns 1
// and 3.
TEST(RopeAxial, AlternatingAxesShareOneList) {
  EXPECT_THAT(
      DoublesOf("rope_axial base=16 A=2 H=1 S=1 D=8 dtype=f64 @position=1,-2 frequencies=lang "
                "arrangement=alternating pairing=interleaved @x=1,0,1,0,1,0,1,0"),
      ElementsAre(DoubleEq(std::cos(1)), DoubleEq(std::sin(1)), DoubleEq(std::cos(.25)),
                  DoubleEq(std::sin(.25)), DoubleEq(std::cos(1)), DoubleEq(-std::sin(1)),
                  DoubleEq(std::cos(.25)), DoubleEq(-std::sin(.25))));
}

// Frequencies pi, 3 pi and 5 pi at coordinate 1/2: angles pi/2, 3 pi/2 and 5 pi/2, with exact pi.
TEST(RopeAxial, PixelFrequenciesAreMultiplesOfPi) {
  const auto near = [](double y) { return DoubleNear(y, 1e-16); };
  EXPECT_THAT(DoublesOf("rope_axial frequencies=pixel arrangement=blocks pairing=interleaved A=1 "
                        "H=1 S=1 D=6 dtype=f64 @position=0.5 @x=1,0,1,0,1,0"),
              ElementsAre(near(0), near(1), near(0), near(-1), near(0), near(1)));
  EXPECT_THAT(DoublesOf("rope_axial frequencies=pixel arrangement=blocks pairing=interleaved A=1 "
                        "H=1 S=1 D=2 dtype=f64 @position=1 @x=3,0"),
              ElementsAre(-3, near(0)));
}

TEST(RopeAxial, ConstantFrequencyRotatesByTheCoordinate) {
  EXPECT_THAT(DoublesOf("rope_axial frequencies=constant arrangement=halves pairing=half A=2 H=1 "
                        "S=1 D=4 dtype=f64 @position=0.75,-0.1 @x=1,1,0,0"),
              ElementsAre(DoubleEq(std::cos(.75)), DoubleEq(std::cos(.1)), DoubleEq(std::sin(.75)),
                          DoubleEq(-std::sin(.1))));
}

TEST(RopeAxial, OneAxisWithIntegerCoordinatesIsRope) {
  const std::string shared = " pairing=half H=1 S=1 D=8 R=6 offset=1 direction=transpose ";
  const std::string numbers = "@x=1,-2,3,0.5,5,-6,7,8 @position=-777";
  for (const std::string arrangement : {"blocks", "alternating", "halves"}) {
    EXPECT_EQ(
        DoublesOf("rope_axial frequencies=lang A=1 arrangement=" + arrangement + shared + numbers),
        DoublesOf("rope" + shared + numbers));
  }
}

TEST(RopeAxial, RefusesWidthsThatAxesCannotShareEqually) {
  EXPECT_THAT(
      MessageOf([&] {
        Case::Parse("rope_axial frequencies=lang arrangement=halves pairing=half A=3 H=1 S=1 D=8");
      }),
      HasSubstr("dimension R is 8, expected a multiple of 2 A"));
  EXPECT_THROW(
      Case::Parse("rope_axial frequencies=lang arrangement=halves pairing=half A=0 H=1 S=1 D=8"),
      Error);
}

}  // namespace
}  // namespace sextant
