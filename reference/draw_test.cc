#include "reference/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace sextant {
namespace {

using testing::AnyOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::vector<double>;

Values Draw(const std::string& line, size_t input = 0) {
  return DrawInputs(Case::Parse(line))[input].values.data;
}

std::string ErrorOf(const std::string& line) {
  try {
    DrawInputs(Case::Parse(line));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

// Goldens hold inputs drawn once: whoever changes the generator must see it here.
TEST(Draw, GivesTheSameBitsForever) {
  EXPECT_EQ(Draw("rms_norm N=1 M=4 dtype=f64 seed=1"),
            (Values{-0x1.ac7a5994p-1, -0x1.3e4cfe18p-2, 0x1.5782a928p-1, -0x1.dfa33998p-3}));
  EXPECT_EQ(Draw("rms_norm N=1 M=4 dtype=f64 seed=2 @x=uniform"),
            (Values{-0x1.8460c2e8p-1, 0x1.dae15ad8p-2, -0x1.d3fcb47cp-1, -0x1.097e149cp-1}));
  EXPECT_EQ(Draw("rms_norm N=1 M=4 seed=1", 1),
            (Values{0x1.0c3ce2p+0, 0x1.3402e2p-1, 0x1.45bc44p-1, 0x1.39deaep-1}));
  EXPECT_EQ(Draw("rope_table S=4 R=2 @position=random_positions"),
            (Values{745226, 947294, 456131, 980921}));
}

TEST(Draw, DependsOnSeedNameAndPlaceAlone) {
  EXPECT_NE(Draw("rms_norm N=1 M=4 seed=1"), Draw("rms_norm N=1 M=4 seed=2"));
  EXPECT_NE(Draw("rms_norm N=1 M=4 @x=near_one"), Draw("rms_norm N=1 M=4", 1));
  const Values small = Draw("rms_norm N=1 M=4"), large = Draw("rms_norm N=4 M=4");
  EXPECT_EQ(Values(large.begin(), large.begin() + 4), small);
  EXPECT_NE(Values(large.begin() + 4, large.begin() + 8), small);
}

TEST(Draw, GivesExactValuesOfTheType) {
  for (const DType dtype : kFloatTypes) {
    for (const char* spec :
         {"normal", "uniform", "near_one", "geometric", "special", "powers_of_two", "nonfinite"}) {
      const auto values =
          Draw("rms_norm N=8 M=16 dtype=" + std::string(NameOf(dtype)) + " @x=" + spec);
      for (const double x : values) EXPECT_TRUE(IsRepresentable(dtype, x)) << spec << " " << x;
    }
  }
}

TEST(Draw, ListsNumbersAndRangesAsGiven) {
  EXPECT_THAT(Draw("rope_table R=2 @position=0,-3..-1,7"), ElementsAre(0, -3, -2, -1, 7));
  EXPECT_THAT(Draw("rms_norm N=2 M=2 @x=0.5,0x1p-3"),
              ElementsAre(0.5, 0.125, 0.5, 0.125));                           // every row
  EXPECT_THAT(Draw("rms_norm N=2 M=2 @x=1,2,3,4"), ElementsAre(1, 2, 3, 4));  // the whole tensor
}

TEST(Draw, RefusesWhatTheTypeCannotHold) {
  EXPECT_EQ(ErrorOf("rms_norm N=1 M=1 dtype=bf16 @x=0.3"),
            "@x=0.3: element 0 is 0.29999999999999999, expected a value of bf16");
  EXPECT_EQ(ErrorOf("rope_table R=2 @position=1,0.5"),
            "@position=1,0.5: element 1 is 0.5, expected an integer of at most 2^53 in magnitude");
  EXPECT_THAT(ErrorOf("rope_table R=2 S=1 @position=sequence(9007199254740994)"),
              HasSubstr("at most 2^53"));
}

TEST(Draw, RefusesSpecsThatMeanNothing) {
  EXPECT_EQ(ErrorOf("rms_norm N=1 M=1 @x=gauss"),
            "@x='gauss' is neither a list of numbers, nor FILE.npy#SHA256, nor one of:" +
                DistributionNames());
  EXPECT_EQ(ErrorOf("rms_norm N=1 M=1 @x=normal(1"), "@x='normal(1' has no closing ')'");
  EXPECT_EQ(ErrorOf("rms_norm N=1 M=1 @x=normal(1,2)"),
            "@x='normal(1,2)': normal takes at most 1 numbers");
  EXPECT_EQ(ErrorOf("rms_norm N=1 M=1 @x=special(1)"),
            "@x='special(1)': special takes at most 0 numbers");
  EXPECT_EQ(ErrorOf("rope_table R=2 S=1 @position=random_positions(0)"),
            "@position='random_positions(0)': expected a limit of 1 to 2^53");
  EXPECT_EQ(ErrorOf("rope_table R=2 @position=3..1"),
            "'3..1' is no range of integers, first to last, of at most 2^53");
  EXPECT_EQ(ErrorOf("rope_table R=2 @position=0..0x1p30"),
            "'0..0x1p30' is no range of integers, first to last, of at most 2^53");
  EXPECT_EQ(ErrorOf("rope_table R=2 @position=1e300..1e300"),
            "'1e300..1e300' is no range of integers, first to last, of at most 2^53");
  EXPECT_EQ(ErrorOf("rope_table R=2 @position=9007199254740993"),
            "'9007199254740993' is not exactly a number of 53 bits");
  EXPECT_EQ(ErrorOf("rope_table R=2 @position=1,2,"), "'1,2,' ends with a comma");
  EXPECT_EQ(ErrorOf("rope_table R=2 S=1 dtype.position=f64"),
            "rope_table: position holds integers: its dtype is i64");
  EXPECT_EQ(ErrorOf("rope_table R=2 @position=1,,2"), "'' is not a finite number");
  EXPECT_EQ(ErrorOf("rms_norm N=1 M=1 @x=a.npy#00"), "@x=a.npy#00: files cannot be read here");
}

TEST(Draw, AsksForFilesByPathAndDigest) {
  const FileReader read = [](const std::string& path, const std::string& digest) {
    EXPECT_EQ(path, "a.npy");
    EXPECT_EQ(digest, "0123");
    return Tensor<double>({1, 2}, {5, 6});
  };
  EXPECT_THAT(DrawInputs(Case::Parse("rms_norm N=1 M=2 @x=a.npy#0123"), read)[0].values.data,
              ElementsAre(5, 6));
  try {
    DrawInputs(Case::Parse("rms_norm N=2 M=2 @x=a.npy#0123"), read);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "@x=a.npy#0123 has shape [1,2], expected [2,2]");
  }
}

TEST(Draw, CountsWhatASpecLists) {
  EXPECT_EQ(CountOfSpec("0,1,255..258"), 6u);
  EXPECT_EQ(CountOfSpec("-5"), 1u);
  EXPECT_EQ(CountOfSpec("normal"), std::nullopt);
  EXPECT_EQ(CountOfSpec("a.npy#00"), std::nullopt);
}

TEST(Draw, NormalHasMeanZeroAndItsScale) {
  for (const double scale : {1.0, 30.0}) {
    double sum = 0, squares = 0;
    const Values values =
        Draw("rms_norm N=1 M=20000 dtype=f64 @x=normal(" + std::to_string(scale) + ")");
    for (const double x : values) {
      sum += x / scale;
      squares += x * x / (scale * scale);
      EXPECT_LE(std::abs(x), 6 * scale);
    }
    // Six standard deviations of the mean of 20000 numbers, and of their squares.
    EXPECT_LE(std::abs(sum / 20000), 6 / std::sqrt(20000));
    EXPECT_LE(std::abs(squares / 20000 - 1), 6 * std::sqrt(2.0 / 20000));
  }
}

TEST(Draw, UniformFillsItsRange) {
  const auto within = [](const std::string& spec, double low, double high) {
    const Values values = Draw("rms_norm N=1 M=2000 dtype=f64 @x=" + spec);
    const auto [least, most] = std::ranges::minmax(values);
    EXPECT_GE(least, low);
    EXPECT_LT(most, high);
    EXPECT_LT(least, low + (high - low) / 100);
    EXPECT_GT(most, high - (high - low) / 100);
  };
  within("uniform", -1, 1);
  within("uniform(3,7)", 3, 7);
  within("near_one", 0.5, 1.5);
}

TEST(Draw, GeometricFallsLikeFrequencies) {
  const Values f = Draw("rope_table S=1 R=128", 1);
  EXPECT_EQ(f.front(), 1);
  EXPECT_TRUE(std::is_sorted(f.rbegin(), f.rend()));
  EXPECT_NEAR(f.back(), 1e-4, 1e-4);
  EXPECT_GT(f.back(), 0);
}

TEST(Draw, CosAndSinBelongToOneAngle) {
  const std::string line = "rope_rotate pairing=half H=1 S=50 D=8 dtype=f64";
  const Values c = Draw(line, 1), s = Draw(line, 2);
  std::set<std::pair<bool, bool>> quadrants;
  for (size_t i = 0; i < c.size(); ++i) {
    EXPECT_NEAR(c[i] * c[i] + s[i] * s[i], 1, 0x1p-50);
    quadrants.insert({c[i] > 0, s[i] > 0});
  }
  EXPECT_EQ(quadrants.size(), 4u);
}

TEST(Draw, OneHotVisitsEveryChannel) {
  EXPECT_THAT(Draw("rms_norm N=4 M=3 @x=one_hot"), ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0));
}

TEST(Draw, PowersOfTwoAreThat) {
  std::set<double> seen;
  for (const double x : Draw("rms_norm N=1 M=1000 @x=powers_of_two")) {
    int exponent = 0;
    EXPECT_EQ(std::abs(std::frexp(x, &exponent)), 0.5);
    seen.insert(x);
  }
  EXPECT_EQ(seen.size(), 34u);  // both signs of 2^-8 .. 2^8
}

TEST(Draw, SpecialHasTheEdgesOfTheType) {
  const Values values = Draw("rms_norm N=1 M=500 dtype=f16 @x=special");
  for (const double x : {0.0, 1.0, 1 + 0x1p-10, 0x1p-24, 0x1p-14, 65504.0, -65504.0, 3.0}) {
    EXPECT_THAT(values, testing::Contains(x));
  }
}

TEST(Draw, NonFiniteHasEveryKind) {
  size_t nan = 0, infinite = 0, finite = 0;
  for (const double x : Draw("rms_norm N=1 M=100 @x=nonfinite")) {
    nan += std::isnan(x);
    infinite += std::isinf(x);
    finite += std::isfinite(x);
  }
  EXPECT_GT(nan, 0u);
  EXPECT_GT(infinite, 1u);
  EXPECT_GT(finite, 50u);
}

TEST(Draw, PositionSetsAreWhatTheySay) {
  const auto positions = [](const std::string& spec, int count) {
    return Draw("rope_table R=2 S=" + std::to_string(count) + " @position=" + spec);
  };
  EXPECT_THAT(positions("sequence", 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(positions("sequence(-1)", 3), ElementsAre(-1, 0, 1));
  EXPECT_THAT(positions("borders", 13), ElementsAre(255, 256, 257, 2047, 2048, 2049, 65535, 65536,
                                                    65537, 16777215, 16777216, 16777217, 255));
  for (const double p : positions("random_positions(3)", 100)) EXPECT_THAT(p, AnyOf(0, 1, 2));
  EXPECT_EQ(std::ranges::max(positions("hard", 16)), 1048576);
}

// |p - n pi/2| of the hard positions: less than 1/p for those past 3, as convergents are.
TEST(Draw, HardPositionsLieNextToMultiplesOfHalfPi) {
  for (const double p : Draw("rope_table R=2 S=16 @position=hard")) {
    if (p <= 3 || p == 1048576) continue;
    const double distance = std::abs(std::remainder(p, std::acos(-1.0) / 2));
    EXPECT_LT(distance, 4 / p) << p;
  }
}

}  // namespace
}  // namespace sextant
