#include "reference/case/draw.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "reference/base/error_test.h"

namespace sextant {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Values = std::vector<double>;

Values Draw(const std::string& line, size_t input = 0) {
  return DrawInputs(Case::Parse(line))[input].values.data;
}

std::string ErrorOfDrawing(const std::string& line) {
  return MessageOf([&] { DrawInputs(Case::Parse(line)); });
}

// Goldens store inputs: a change of the generator must fail here.
TEST(Draw, GivesTheRecordedBits) {
  EXPECT_EQ(Draw("rms_norm N=1 M=4 dtype=f64 seed=1"),
            (Values{-0x1.ac7a5994p-1, -0x1.3e4cfe18p-2, 0x1.5782a928p-1, -0x1.dfa33998p-3}));
  EXPECT_EQ(Draw("rms_norm N=1 M=4 dtype=f64 seed=2 @x=uniform"),
            (Values{-0x1.8460c2e8p-1, 0x1.dae15ad8p-2, -0x1.d3fcb47cp-1, -0x1.097e149cp-1}));
  EXPECT_EQ(Draw("rms_norm N=1 M=4 seed=1", 1),
            (Values{0x1.0c3ce2p+0, 0x1.3402e2p-1, 0x1.45bc44p-1, 0x1.39deaep-1}));
  EXPECT_EQ(Draw("rope_table S=4 R=2 @position=random_positions"),
            (Values{745226, 947294, 456131, 980921}));
}

TEST(Draw, DependsOnlyOnSeedNameAndIndex) {
  EXPECT_NE(Draw("rms_norm N=1 M=4 seed=1"), Draw("rms_norm N=1 M=4 seed=2"));
  EXPECT_NE(Draw("rms_norm N=1 M=4 @x=near_one"), Draw("rms_norm N=1 M=4", 1));
  const Values small = Draw("rms_norm N=1 M=4"), large = Draw("rms_norm N=4 M=4");
  EXPECT_EQ(Values(large.begin(), large.begin() + 4), small);
  EXPECT_NE(Values(large.begin() + 4, large.begin() + 8), small);
}

TEST(Draw, KnowsIfTheSeedMatters) {
  const auto depends = [](const std::string& line) { return DependsOnSeed(Case::Parse(line)); };
  EXPECT_TRUE(depends("rms_norm N=1 M=4"));
  EXPECT_TRUE(depends("rms_norm N=1 M=4 @x=one_hot"));  // the weights do
  EXPECT_TRUE(depends("softmax N=1 M=4 dtype=f16 @x=normal(1e30)"));
  EXPECT_FALSE(depends("rms_norm N=1 M=4 @x=one_hot @weight=1,2,3,4"));
  EXPECT_FALSE(depends("softmax N=0 M=4"));
  EXPECT_FALSE(depends("rope_frequencies R=4"));  // no inputs
  EXPECT_TRUE(depends("rope_table R=2 S=2 @position=random_positions(2)"));
  EXPECT_FALSE(depends("rope_table R=2 S=2 @position=random_positions(1)"));
}

TEST(Draw, GivesExactValuesOfTheDType) {
  for (const DType dtype : kTensorTypes) {
    for (const char* spec :
         {"normal", "uniform", "near_one", "geometric", "special", "powers_of_two", "nonfinite"}) {
      if (std::string_view(spec) == "powers_of_two" && MaxFinite(dtype) < 256) continue;
      const auto values =
          Draw("rms_norm N=8 M=16 dtype.x=" + std::string(NameOf(dtype)) + " @x=" + spec);
      for (const double x : values) {
        EXPECT_TRUE(IsRepresentable(dtype, x)) << spec << " " << x;
        const double stored = DecodeBits(dtype, EncodeBits(dtype, x));
        EXPECT_EQ(std::signbit(stored), std::signbit(x)) << spec << " " << x;  // of 0, too
      }
    }
  }
}

TEST(Draw, RefusesInfinitiesInTypesWithoutThem) {
  EXPECT_EQ(ErrorOfDrawing("softmax N=1 M=8 dtype.x=f8_e4m3fn @x=masked"),
            "@x='masked' draws infinities, which f8_e4m3fn does not have");
  EXPECT_EQ(ErrorOfDrawing("softmax N=1 M=8 dtype.x=f8_e5m2 @x=masked"), "");
  EXPECT_THAT(ErrorOfDrawing("softmax N=1 M=8 dtype.x=f8_e4m3fn @x=normal(1e4)"),
              HasSubstr("beyond the largest f8_e4m3fn"));
}

TEST(Draw, ListsNumbersAndRangesAsGiven) {
  EXPECT_THAT(Draw("rope_table R=2 @position=0,-3..-1,7"), ElementsAre(0, -3, -2, -1, 7));
  EXPECT_THAT(Draw("rope_table R=2 @position=3..3"), ElementsAre(3));
  EXPECT_THAT(Draw("rms_norm N=2 M=2 @x=0.5,0x1p-3"),
              ElementsAre(0.5, 0.125, 0.5, 0.125));                           // every row
  EXPECT_THAT(Draw("rms_norm N=2 M=2 @x=1,2,3,4"), ElementsAre(1, 2, 3, 4));  // the whole tensor
}

TEST(Draw, RefusesNumbersThatAreNotValuesOfTheDType) {
  EXPECT_EQ(ErrorOfDrawing("rms_norm N=1 M=1 dtype=bf16 @x=0.3"),
            "@x=0.3: element 0 is 0.29999999999999999, expected a value of bf16");
  EXPECT_EQ(ErrorOfDrawing("rope_table R=2 @position=1,0.5"),
            "@position=1,0.5: element 1 is 0.5, expected an integer of at most 2^53 in magnitude");
  EXPECT_THAT(ErrorOfDrawing("rope_table R=2 S=1 @position=sequence(9007199254740994)"),
              HasSubstr("at most 2^53"));
}

TEST(Draw, RefusesInvalidLists) {
  EXPECT_EQ(
      ErrorOfDrawing("rope_table R=2 @position=3..1"),
      "@position=3..1: '3..1' is not a range of integers, expected first..last of at most 2^53");
  EXPECT_EQ(ErrorOfDrawing("rope_table R=2 @position=0..0x1p30"),
            "@position=0..0x1p30: '0..0x1p30' is a range of 1073741825 integers, expected at most "
            "16777216");
  EXPECT_THAT(ErrorOfDrawing("rope_table R=2 @position=0..0x1p60"),
              HasSubstr("not a range of integers"));
  EXPECT_EQ(ErrorOfDrawing("rope_table R=2 @position=1e300..1e300"),
            "@position=1e300..1e300: '1e300..1e300' is not a range of integers, expected "
            "first..last of at most 2^53");
  EXPECT_EQ(
      ErrorOfDrawing("rope_table R=2 @position=9007199254740993"),
      "@position=9007199254740993: '9007199254740993' is not exactly representable in 53 bits");
  EXPECT_EQ(ErrorOfDrawing("rope_table R=2 @position=1,2,"),
            "@position=1,2,: the list ends with a comma");
  EXPECT_EQ(ErrorOfDrawing("rope_table R=2 S=1 dtype.position=f64"),
            "rope_table: position holds integers: its dtype is i64");
  EXPECT_EQ(ErrorOfDrawing("rope_table R=2 @position=1,,2"),
            "@position=1,,2: '' is not a finite number");
  EXPECT_EQ(ErrorOfDrawing("rms_norm N=1 M=1 @x=a.npy#00"),
            "@x=a.npy#00: files cannot be read here");
}

TEST(Draw, ListsHoldFiniteNumbers) {
  for (const std::string number : {"nan", "-nan", "NaN", "inf", "-inf", "+inf", "-Infinity"}) {
    const std::string why = ": '" + number + "' is not a finite number";
    EXPECT_EQ(ErrorOfDrawing("rms_norm N=1 M=1 @x=" + number), "@x=" + number + why);
    EXPECT_EQ(ErrorOfDrawing("rms_norm N=1 M=2 @x=1," + number), "@x=1," + number + why);
    EXPECT_EQ(ErrorOfDrawing("rope_table R=2 @position=" + number), "@position=" + number + why);
  }
}

TEST(Draw, RefusesToDrawFromAnEmptyTable) {
  const std::string line = "embedding S=1 M=1 V=0";
  EXPECT_EQ(ErrorOfDrawing(line),
            "dimension V is 0, expected 1 or more for @token=random_positions(V)");
}

TEST(Draw, ReadsFilesByPathAndDigest) {
  const FileReader read = [](const std::string& path, const std::string& digest, DType) {
    EXPECT_EQ(path, "a.npy");
    EXPECT_EQ(digest, "0123");
    return Tensor<double>({1, 2}, {5, 6});
  };
  EXPECT_THAT(DrawInputs(Case::Parse("rms_norm N=1 M=2 @x=a.npy#0123"), read)[0].values.data,
              ElementsAre(5, 6));
  EXPECT_EQ(MessageOf([&] { DrawInputs(Case::Parse("rms_norm N=2 M=2 @x=a.npy#0123"), read); }),
            "@x=a.npy#0123 has shape [1,2], expected [2,2]");
}

TEST(Draw, RefusesFilesWithNumbersThatAreNotValuesOfTheDType) {
  const FileReader read = [](const std::string&, const std::string&, DType) {
    return Tensor<double>({1, 2}, {5, 0.1});
  };
  EXPECT_THAT(
      MessageOf([&] { DrawInputs(Case::Parse("rms_norm N=1 M=2 dtype=f32 @x=a.npy#0123"), read); }),
      HasSubstr("expected a value of f32"));
}

// Above 8 the ratios are 2^(1/8) = 1.09: 8, 8.7, 9.5, 10.4, 11.3, 12.3, 13.5, 14.7, 16.
TEST(Draw, ListsIntegersOnALogarithmicScale) {
  const auto drawn = [](const std::string& list) {
    return DrawInputs(Case::Parse("sinusoidal M=2 @position=" + list))[0].values.data;
  };
  EXPECT_EQ(drawn("log(8..16)"), (std::vector<double>{8, 9, 10, 11, 12, 13, 15, 16}));
  EXPECT_EQ(drawn("0,log(1..4),7"), (std::vector<double>{0, 1, 2, 3, 4, 7}));
  EXPECT_EQ(drawn("log(5..5)"), std::vector<double>{5});
  EXPECT_EQ(drawn("log(1..131072)").back(), 131072);
  for (const char* const wrong : {"log(0..8)", "log(8)", "log(1..8", "log(9..8)", "log(1.5..8)"})
    EXPECT_THROW(drawn(wrong), Error) << wrong;
}

TEST(Draw, CountsTheNumbersOfAList) {
  EXPECT_EQ(CountOfSpec("0,1,255..258"), 6u);
  EXPECT_EQ(CountOfSpec("-5"), 1u);
  EXPECT_EQ(CountOfSpec("0,log(1..9)"), 10u);
  EXPECT_EQ(CountOfSpec("normal"), std::nullopt);
  EXPECT_EQ(CountOfSpec("a.npy#00"), std::nullopt);
}

}  // namespace
}  // namespace sextant
