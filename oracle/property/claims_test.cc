// Tests CLAIMS.md: its properties exist, and its figures equal those computed here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <regex>
#include <sstream>

#include "oracle/catalog/catalog.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

using testing::HasSubstr;
using Vector = std::vector<double>;

// The page with single spaces instead of white space. The working directory is the root of the
// repository.
std::string Page() {
  std::ifstream file("oracle/property/CLAIMS.md");
  std::string page;
  for (std::string word; file >> word;) page += word + " ";
  return page;
}

std::string Fixed(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", x);
  return text;
}

std::string Scientific(double x, int digits = 1) {
  char text[32];
  std::snprintf(text, sizeof text, "%.*e", digits, x);
  return text;
}

// q . (R_distance k), from proven values.
double Score(const Vector& q, const Vector& k, double distance) {
  const Case c =
      Case::Parse("rope pairing=half base=10000 S=1 H=1 dtype=f64 D=" + std::to_string(k.size()));
  const std::vector<GoldenTensor> rotated =
      Prove({c,
             Tensors{{"x", DType::kF64, {{1, 1, 1, k.size()}, k}},
                     {"position", DType::kI64, {{1, 1}, {distance}}}},
             ParseRecipe("native", DType::kF64)});
  double score = 0;
  for (size_t i = 0; i < k.size(); ++i) score += q[i] * rotated[0].value.data[i];
  return score;
}

double ScoreOfEqualVectors(double distance) {
  const Vector ones(128, 1);
  return Score(ones, ones, distance) / 128;
}

// Largest error of the recipe's own answer, relative to the exact values or absolute.
double LargestError(const std::string& line, const std::string& recipe_text, bool relative) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe(recipe_text, c.dtype());
  const GoldenTensor exact = Prove({c, inputs, recipe})[0];
  const NamedTensor answer = EvaluateByRecipe({c, inputs, recipe})[0];
  double largest = 0;
  for (size_t i = 0; i < exact.high.data.size(); ++i) {
    const double off = std::abs(answer.values.data[i] - exact.high.data[i]);
    largest = std::max(largest, relative ? off / std::abs(exact.high.data[i]) : off);
  }
  return largest;
}

TEST(Claims, NamePropertiesThatExist) {
  const std::string page = Page();
  const std::regex property("`([a-z_]+)/([a-z_]+)`");
  size_t found = 0;
  for (std::sregex_iterator at(page.begin(), page.end(), property), end; at != end; ++at, ++found) {
    const auto& properties = CatalogEntryOf((*at)[1].str()).properties;
    EXPECT_TRUE(std::ranges::count(properties, (*at)[2].str(), &Property::name)) << at->str();
  }
  EXPECT_GT(found, 10u);
}

TEST(Claims, ScoresDoNotDecaySteadily) {
  double largest = -1, at = 0;  // mean of cosines in double: the page has only three digits
  for (double n = 10000; n <= 20000; ++n) {
    double mean = 0;
    for (int k = 0; k < 64; ++k) mean += std::cos(n * std::pow(10000.0, -k / 64.0)) / 64;
    if (mean > largest) largest = mean, at = n;
  }
  EXPECT_NEAR(ScoreOfEqualVectors(at), largest, 1e-9);
  EXPECT_GT(ScoreOfEqualVectors(159531), largest);
  EXPECT_THAT(Page(), HasSubstr("between 10000 and 20000 tokens is " + Fixed(largest) + " (at " +
                                std::to_string(static_cast<int>(at)) + " tokens), but at 159531 " +
                                "tokens it is " + Fixed(ScoreOfEqualVectors(159531))));
}

TEST(Claims, ScoresDoNotFallWithTheAngle) {
  const auto equal = [](double n) { return Fixed(Score({1, 0}, {1, 0}, n)); };
  const auto crossed = [](double n) { return Fixed(Score({1, 0}, {0, 1}, n)); };
  EXPECT_THAT(Page(), HasSubstr("scores " + equal(1) + " at 1 token, " + equal(3) + " at 3, and " +
                                equal(6) + " at 6."));
  EXPECT_THAT(Page(),
              HasSubstr("ahead scores " + crossed(1) + ", one token behind " + crossed(-1) + ":"));
}

TEST(Claims, FrequenciesByExpAndLogAreLessAccurate) {
  const auto off = [](const char* recipe) {
    return Scientific(LargestError("rope_frequencies R=512", recipe, true));
  };
  EXPECT_THAT(Page(), HasSubstr("up to " + off("exp_log") + " off (relative), by pow " +
                                off("native") + ", correctly rounded " + off("exact") + "."));
  const Case c = Case::Parse("rope_frequencies R=512 dtype=f64");
  const double last =
      Prove({c, Tensors{}, ParseRecipe("native", DType::kF64)})[0].value.data.back();
  EXPECT_THAT(Page(), HasSubstr("last frequency is " + Scientific(last, 2) +
                                ", and the smallest normal f32 number " + Scientific(0x1p-126, 2)));
}

TEST(SlowClaims, RoundingTheAngleDominatesATable) {
  const auto off = [](const char* recipe) {
    return Scientific(LargestError("sinusoidal S=100 M=512 @position=4900..4999", recipe, false));
  };
  EXPECT_THAT(Page(), HasSubstr("exp and log are up to " + off("exp_log") + " off, pow is " +
                                off("native") + ", and even exact frequencies leave " +
                                off("*=f32 exponent=exact frequency=exact") + "."));
}

// The last frequency of a case of rope_frequencies.
double LastFrequency(const std::string& words) {
  const Case c = Case::Parse("rope_frequencies dtype=f64 " + words);
  return Prove({c, Tensors{}, ParseRecipe("native", DType::kF64)})[0].value.data.back();
}

TEST(Claims, SomeScalingsDependOnTheLength) {
  const std::string dynamic = "R=128 scaling=dynamic(factor=4,max_position_embeddings=2048)";
  const auto angle = [&](const char* length) {
    return Fixed(2047 * LastFrequency(dynamic + " seq_len=" + length));
  };
  EXPECT_THAT(Page(),
              HasSubstr("token 2047 by " + angle("2048") + " radians while there are 2048 " +
                        "tokens, and by " + angle("8192") + " when there are 8192"));
  const std::string longrope =
      "R=4 scaling=longrope(short_factor=[1,1.5],long_factor=[1,40.5],"
      "original_max_position_embeddings=4096,factor=32)";
  const auto frequency = [&](const char* length) {
    return Scientific(LastFrequency(longrope + " seq_len=" + length), 2);
  };
  EXPECT_THAT(Page(), HasSubstr("a frequency of 0.01 is " + frequency("4096") + " at 4096 tokens " +
                                "and " + frequency("4097") + " at 4097."));
}

TEST(Claims, SinesAloneAreNotShiftedByALinearMap) {
  const Case c = Case::Parse("sinusoidal S=2 M=8 dtype=f64 @position=0,7");
  const auto y = Prove({c, DrawInputs(c), ParseRecipe("native", DType::kF64)})[0].value;
  for (size_t sine = 0; sine < 8; sine += 2) EXPECT_EQ(y(0, sine), 0);
  EXPECT_THAT(Page(), HasSubstr("the first is " + Fixed(y(1, 0)) + "."));
}

TEST(Claims, PositionsComeClose) {
  // sin(710 - 226 pi) = 710 - 226 pi up to its cube.
  const double sine = Score({0, 1}, {1, 0}, 710);
  EXPECT_THAT(Page(), HasSubstr("for " + Scientific(std::abs(sine), 2) + " radians"));
  EXPECT_EQ(static_cast<float>(Score({1, 0}, {1, 0}, 710)), 1);
  EXPECT_NE(Score({1, 0}, {1, 0}, 710), 1);
}

}  // namespace
}  // namespace sextant::oracle
