// Tests of `sextant check --fresh`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fixtures/store/writer.h"
#include "reference/base/error_test.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"
#include "tools/cli/check_test.h"

namespace sextant::tools {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr char kWrong[] = "defect:rms_norm/mean_subtracted";

class FreshTest : public CheckTest {
 protected:
  std::vector<std::string> Lines() const {
    std::vector<std::string> lines;
    for (const Json& one : report_["cases"]) lines.push_back(one["case"].get<std::string>());
    return lines;
  }
};

TEST_F(FreshTest, JudgesEachCaseAlsoWithInputsOfAnotherSeed) {
  const std::vector<std::string> cases = {"rms_norm N=2 M=4", "rms_norm N=2 M=4 seed=2",
                                          "softmax N=1 M=2 @x=1,2"};
  EXPECT_EQ(Run({cases[0], cases[1], cases[2], "--fresh=7", "--subject", "recipe:native"}),
            kVerified);
  const auto lines = Lines();
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_EQ(std::set(lines.begin(), lines.end()).size(), 5u);
  EXPECT_EQ(report_["cases"][0]["fresh_of"], nullptr);
  EXPECT_EQ(report_["cases"][1]["fresh_of"], lines[0]);
  EXPECT_EQ(report_["cases"][3]["fresh_of"], lines[2]);
  EXPECT_NE(DrawInputs(Case::Parse(lines[1]))[0].values.data,
            DrawInputs(Case::Parse(lines[0]))[0].values.data);
  EXPECT_EQ(report_["fresh"], Json({{"seed", 7}, {"questions", nullptr}, {"cases", 2}}));
  EXPECT_THAT(stdout_, HasSubstr("with fresh inputs (--fresh=7): 2 cases\n"));
  EXPECT_THAT(junit_, HasSubstr("<property name=\"fresh\" value=\"7\" />"));
  EXPECT_THAT(junit_, HasSubstr("name=\"" + lines[0] + ", with fresh inputs\""));
  EXPECT_THAT(junit_, Not(HasSubstr(lines[1])));  // the name does not depend on the seed
  // Another selection draws the same.
  EXPECT_EQ(Run({cases[2], cases[0], "--fresh=7", "--subject", "recipe:native"}), kVerified);
  EXPECT_THAT(Lines(), ElementsAre(lines[4], lines[0], lines[1]));
  EXPECT_EQ(Run({cases[0], "--subject", "recipe:native"}), kVerified);
  EXPECT_EQ(report_["fresh"], nullptr);
  EXPECT_THAT(junit_, Not(HasSubstr("propert")));
}

TEST_F(FreshTest, WithoutASeedDrawsOneAndSaysIt) {
  const std::vector<std::string> words = {"rms_norm N=2 M=4", "--subject", kWrong, "--fresh"};
  EXPECT_EQ(Run(words), kNonconforming);
  const auto lines = Lines();
  const std::string seed = report_["fresh"]["seed"].dump();
  EXPECT_THAT(stdout_, HasSubstr("(--fresh=" + seed + "): 1 case, 1 of them with a failure\n"));
  EXPECT_THAT(stdout_, HasSubstr("FAILS " + lines[1] + "\n"));
  EXPECT_EQ(Run({words[0], words[1], words[2], words[3] + "=" + seed}), kNonconforming);
  EXPECT_EQ(Lines(), lines);
  EXPECT_EQ(Run(words), kNonconforming);
  EXPECT_NE(Lines(), lines);
}

// The golden is wrong: only the committed case is judged by it.
TEST_F(FreshTest, TheFreshCaseOfAGoldenIsProvenNow) {
  const Case c = Case::Parse("rms_norm N=1 M=2");
  const Tensors inputs = DrawInputs(c);
  Record record{c.ToString(), inputs, Prove({c, inputs, ParseRecipe("native", c.dtype())}), {}};
  record.golden[0].value.data[0] = record.golden[0].high.data[0] = 64;
  fixtures::WriteRecords(folder_ / "a.h5", {record});
  EXPECT_EQ(Run({folder_ / "a.h5", "--subject", "recipe:native", "--fresh"}), kNonconforming);
  EXPECT_THAT(Statuses(), ElementsAre("fails", "conforms"));
}

TEST_F(FreshTest, TheEntryOfACaseIsAlsoThatOfItsFreshOne) {
  EXPECT_EQ(Run({"rms_norm N=2 M=4", "--fresh=7", "--subject", kWrong}), kNonconforming);
  const auto lines = Lines();
  const auto expecting = [&](const std::string& line, const std::string& outcome) {
    const std::string known =
        Write("known.toml",
              "[[expect]]\ncases = '" + line + "'\nreason = 'r'\noutcome = '" + outcome + "'\n");
    return Run({"rms_norm N=2 M=4", "--fresh=7", "--subject", kWrong, "--expect", known});
  };
  EXPECT_EQ(expecting(lines[0], "fails"), kVerified);
  EXPECT_EQ(report_["counts"]["as_expected"], 2);
  EXPECT_EQ(expecting(lines[0], "unsupported"), kNonconforming);
  EXPECT_EQ(report_["counts"]["unexpected"], 2);
  EXPECT_EQ(expecting(lines[1], "fails"), kNonconforming);
  EXPECT_EQ(report_["stale_expectations"].size(), 1);
}

// With this seed every element depends on a NaN.
TEST_F(FreshTest, AcceptsFreshInputsThatCannotFail) {
  const std::string line = "attention_scores H=1 D=4 S=2 T=3 @q=nonfinite";
  EXPECT_EQ(Run({line, "--subject", "recipe:native", "--fresh=2"}), kVerified);
  EXPECT_THAT(Statuses(), ElementsAre("conforms", "unverified"));
  EXPECT_THAT(stdout_, HasSubstr(": 1 case, 1 of them unverified, which is accepted\n"));
  EXPECT_FALSE(IsRed(junit_));
  const std::string fresh = Lines()[1];
  EXPECT_EQ(Run({fresh, "--subject", "recipe:native"}), kIncomplete);
}

TEST_F(FreshTest, OptionsOfSelectionAndBudgetHoldForFreshCases) {
  const std::vector<std::string> cases = {"rms_norm N=2 M=4", "rms_norm N=64 M=4"};
  EXPECT_EQ(Run({cases[0], cases[1], "--filter", "N=64", "--fresh=7", "--subject", "recipe:native",
                 "--budget-elements", "16"}),
            kIncomplete);
  EXPECT_EQ(report_["sample"]["cases"], 2);
  EXPECT_EQ(report_["cases"][1]["fresh_of"], report_["cases"][0]["case"]);
  EXPECT_EQ(Run({cases[0], cases[1], "--fresh=7", "--fail-fast", "--subject", kWrong}),
            kNonconforming);
  EXPECT_EQ(report_["counts"]["not_reached"], 3);
  EXPECT_EQ(report_["fresh"]["cases"], 0);
}

TEST_F(FreshTest, RefusesWhatItCannotAsk) {
  const auto ask_file = [&] { Run({"rms_norm N=2 M=4", "--fresh", "--subject", "files:a.h5"}); };
  EXPECT_THAT(MessageOf(ask_file), HasSubstr("to which files:a.h5 has no answers"));
  for (const char* seed : {"--fresh=-1", "--fresh=x", "--fresh=18446744073709551616"})
    EXPECT_THROW(Run({"rms_norm N=2 M=4", seed, "--subject", "fast"}), CLI::ParseError) << seed;
  EXPECT_THROW(
      Run({"rms_norm N=2 M=4", "--fresh", "--write-expect", "a.toml", "--subject", "fast"}),
      CLI::ParseError);
  EXPECT_EQ(Run({"--fresh", "rms_norm N=2 M=4", "--subject", "fast"}), kVerified);
}

}  // namespace
}  // namespace sextant::tools
