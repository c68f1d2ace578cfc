// Tests of `sextant check --budget` and `--budget-elements`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/store/writer.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"
#include "tools/cli/check_test.h"

namespace sextant::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kLine[] = "softmax N=64 M=8";

using CheckBudget = CheckTest;

Record RecordOf(const std::string& line) {
  const Case c = Case::Parse(line);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  Record record{c.ToString(), DrawInputs(c), {}, {}};
  record.golden = Prove({c, record.inputs, recipe});
  record.outputs = EvaluateByRecipe({c, record.inputs, recipe});
  return record;
}

TEST_F(CheckBudget, APartIsIncompleteAndSaysSo) {
  const std::vector<std::string> words = {
      kLine, "--subject", "recipe:native", "--budget-elements", "100", "--seed", "3"};
  EXPECT_EQ(Run(words), kIncomplete);
  const std::string line =
      "judged in part: 96 of 512 elements, 12 of 64 slices, chosen with seed 3\n";
  EXPECT_THAT(stdout_, HasSubstr("\n  " + line));
  EXPECT_THAT(stdout_, HasSubstr("\njudged in part: 1 case, 96 of 512 elements, chosen at random "
                                 "with seed 3\n"));
  EXPECT_THAT(stdout_, HasSubstr("; 96 of 512 elements judged, 416 left out\n"));
  const Json sample = {
      {"elements", 96}, {"all_elements", 512}, {"slices", 12}, {"all_slices", 64}, {"seed", 3}};
  EXPECT_EQ(report_["cases"][0]["sample"], sample);
  EXPECT_EQ(report_["cases"][0]["outcome"], "conforms");
  EXPECT_EQ(report_["sample"], Json({{"cases", 1}, {"elements", 96}, {"all_elements", 512}}));
  EXPECT_EQ(report_["budget"], Json({{"seconds", nullptr}, {"elements", 100}, {"seed", 3}}));
  EXPECT_EQ(report_["why_not_verified"],
            "1 case judged only in part (--sampled-is-enough accepts it)");
  EXPECT_TRUE(IsRed(junit_));
  EXPECT_THAT(junit_, HasSubstr("<skipped message=\"judged in part: 96 of 512 elements"));
}

TEST_F(CheckBudget, APartMayBeEnough) {
  EXPECT_EQ(
      Run({kLine, "--subject", "recipe:native", "--budget-elements", "100", "--sampled-is-enough"}),
      kVerified);
  EXPECT_EQ(report_["sampled_is_enough"], true);
  EXPECT_EQ(report_["why_not_verified"], "");
  EXPECT_THAT(stdout_, HasSubstr("\njudged in part: 1 case, 96 of 512 elements"));
  EXPECT_FALSE(IsRed(junit_));
  EXPECT_THAT(junit_, HasSubstr("<system-out>judged in part: 96 of 512 elements"));
}

TEST_F(CheckBudget, AWholeCaseIsNoPart) {
  for (const char* option : {"--budget-elements", "--budget"}) {
    EXPECT_EQ(Run({kLine, "rope_frequencies R=8", "--subject", "recipe:native", option, "1000"}),
              kVerified);
    EXPECT_EQ(report_["sample"], nullptr);
    EXPECT_EQ(report_["cases"][0]["sample"], nullptr);
    EXPECT_THAT(stdout_, Not(HasSubstr("in part")));
  }
  EXPECT_EQ(report_["budget"], Json({{"seconds", 1000.0}, {"elements", nullptr}, {"seed", 0}}));
}

// 4096 slices take longer than a millisecond.
TEST_F(CheckBudget, EndsAfterItsTime) {
  EXPECT_EQ(Run({"softmax N=8192 M=64", "--subject", "recipe:native", "--budget", "0.001"}),
            kIncomplete);
  const Json sample = report_["cases"][0]["sample"];
  EXPECT_GE(sample["slices"], 2);
  EXPECT_LT(sample["slices"], 4096);
  EXPECT_EQ(sample["all_slices"], 4096);
}

TEST_F(CheckBudget, AFailureInThePartFailsAndIsRepeated) {
  std::vector<std::string> words = {
      "rms_norm N=64 M=8", "--subject", "defect:rms_norm/mean_subtracted", "--seed", "7",
      "--budget-elements", "50"};
  EXPECT_EQ(Run(words), kNonconforming);
  EXPECT_EQ(report_["cases"][0]["causes"][0]["name"], "mean_subtracted");
  EXPECT_THAT(stdout_, HasSubstr("48 of 48 elements of y fail"));
  EXPECT_THAT(stdout_, HasSubstr(" --recipe 'native' --budget-elements 48 --seed 7\n"));
  const Json before = report_["cases"];
  words.back() = "48";
  EXPECT_EQ(Run(words), kNonconforming);
  EXPECT_EQ(report_["cases"], before);
}

// Far more elements are judged than are needed to find the cause.
TEST_F(CheckBudget, ACauseIsFoundInABeginningOfThePart) {
  const int status = Run(
      {"rms_norm N=20000 M=64", "--subject", "defect:rms_norm/mean_subtracted", "--budget", "30"});
  EXPECT_EQ(status, kNonconforming);
  EXPECT_EQ(report_["cases"][0]["causes"][0]["name"], "mean_subtracted");
}

TEST_F(CheckBudget, WithoutTimeSomeCausesAreNotFound) {
  EXPECT_EQ(Run({"rms_norm N=64 M=4096", "--subject", "defect:rms_norm/mean_subtracted", "--budget",
                 "0.001"}),
            kNonconforming);
  EXPECT_THAT(stdout_, HasSubstr("  no time was left to look for all causes and recipes\n"));
}

// Stored values are complete, but only a part of them is compared.
TEST_F(CheckBudget, JudgesAPartOfAGoldenFile) {
  Record record = RecordOf(kLine);
  record.outputs.clear();
  fixtures::WriteRecords(folder_ / "a.h5", {record});
  EXPECT_EQ(Run({folder_ / "a.h5", "--subject", "recipe:native", "--budget-elements", "100"}),
            kIncomplete);
  EXPECT_EQ(report_["cases"][0]["tensors"][0]["left_out"], 416);
  EXPECT_EQ(report_["cases"][0]["tensors"][0]["failed"], 0);
}

// Row 9 fails. It is left out, so that nothing contradicts the expectation.
TEST_F(CheckBudget, AnExpectedFailureMayBeLeftOut) {
  Record record = RecordOf(kLine);
  record.golden.clear();
  record.outputs[0].values.data[9 * 8] = 2;
  fixtures::WriteRecords(folder_ / "a.h5", {record});
  const std::string known = Write("known.toml", "[[expect]]\ncases = '*'\nreason = 'row 9'\n");
  const std::vector<std::string> words = {kLine, "--subject", "files:" + (folder_ / "a.h5"),
                                          "--expect", known};
  EXPECT_EQ(Run(words), kVerified);
  std::vector<std::string> in_part = words;
  in_part.insert(in_part.end(), {"--budget-elements", "1"});
  EXPECT_EQ(Run(in_part), kIncomplete);
  EXPECT_EQ(report_["counts"]["unexpected"], 0);
  EXPECT_EQ(report_["counts"]["as_expected"], 0);
  in_part.push_back("--sampled-is-enough");
  EXPECT_EQ(Run(in_part), kVerified);
}

}  // namespace
}  // namespace sextant::tools
