#include "oracle/rope/measured/frequency_functions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "oracle/rope/measured/planted_rotation_test.h"

namespace sextant::oracle {
namespace {

using F = long double;

F Right(size_t k, size_t R) { return std::pow(F(10000), -F(2) * k / R); }

TEST(FrequencyFunctions, NameEquallySpacedFrequencies) {
  const auto linear = [](size_t k, size_t R) {
    const size_t last = R / 2 - 1;
    return 1 + (Right(last, R) - 1) * k / last;
  };
  EXPECT_THAT(Explained("rope pairing=half H=2 S=40 D=32 dtype=f32", {.frequency = linear}),
              Contains(HasSubstr("frequencies of all pairs are equally far apart")));
}

// Frequencies that no form gives are listed, with those of the first pairs; a format does not
// change them by so much.
TEST(FrequencyFunctions, ListFrequenciesWithoutAName) {
  const auto wavy = [](size_t k, size_t R) {
    return Right(k, R) * (k < 8 ? 1 : 1 + std::sin(F(k * k)) / 3);
  };
  const std::string far = "rope pairing=half H=2 D=32 dtype=f32 @position=0..40,100,300,1000,3000";
  EXPECT_THAT(Explained(far, {.frequency = wavy}),
              Contains(HasSubstr("pairs turn at other frequencies: pair 8 at 1.306")));
  const auto near = [](size_t k, size_t R) {
    return Right(k, R) * (1 + std::sin(F(k * k)) / 1000);
  };
  EXPECT_THAT(Explained(far, {.frequency = near}), Not(Contains(HasSubstr("other frequencies"))));
}

TEST(FrequencyFunctions, NameHalfPositionsAndBlocksThatAreAdded) {
  ExpectNamed({.position = [](F p, size_t, size_t) { return p + F(0.5); }},
              "positions have 0.5 added", "rope pairing=half H=2 S=40 D=32");
  ExpectNamed({.position = [](F p, size_t, size_t s) { return p + s / 16 * 16; }},
              "the index of the first token of its block of 16 is added",
              "rope pairing=half H=2 S=40 D=32");
}

TEST(FrequencyFunctions, NamePositionsReadInAnotherWay) {
  const std::string line = "rope pairing=half B=3 H=2 S=9 D=64 @position=random_positions(500)";
  const DrawnCase question(line);
  const std::vector<double>& at = question.inputs[1].values.data;
  ExpectNamed({.position = [&](F, size_t b, size_t s) { return at[s * 3 + b]; }},
              "positions [B,S] are read as [S,B]", line);
  ExpectNamed({.position =
                   [&](F, size_t, size_t s) {
                     return std::max({at[s], at[9 + s], at[18 + s]});
                   }},
              "the largest position of its token in any sequence", line);
  ExpectNamed(
      {.position = [&](F, size_t b,
                       size_t s) { return (b * 9 + s) % 2 == 0 ? at[(b * 9 + s) / 2] : 0; }},
      "positions of 64 bits are read as 32 bits", line);
}

}  // namespace
}  // namespace sextant::oracle
