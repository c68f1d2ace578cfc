// Tests of `sextant check --expect` and `--write-expect`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/store/writer.h"
#include "reference/base/error.h"
#include "reference/case/draw.h"
#include "reference/prove/prove.h"
#include "tools/cli/check_test.h"

namespace sextant::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

class ExpectTest : public CheckTest {
 protected:
  // Checks rms_norm N=1, N=2 (both fail) and softmax N=1 (unsupported) with these expectations.
  int RunWith(const std::string& toml, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"rms_norm N=1 M=2",
                                      "rms_norm N=2 M=2",
                                      "softmax N=1 M=2",
                                      "--subject",
                                      "defect:rms_norm/mean_subtracted",
                                      "--expect",
                                      Write("known.toml", toml)};
    words.insert(words.end(), more.begin(), more.end());
    const int status = Run(words);
    EXPECT_EQ(IsRed(junit_), status != kVerified);
    EXPECT_EQ(report_["exit_status"], status);
    EXPECT_EQ(report_["why_not_verified"] == "", status == kVerified);
    return status;
  }
  // A file of the correct answer to this case.
  std::string AnswersTo(const std::string& line) {
    const Case c = Case::Parse(line);
    const Recipe native = ParseRecipe("native", c.dtype());
    const std::string path = folder_ / "answers.h5";
    fixtures::WriteRecords(path,
                           {{c.ToString(), {}, {}, EvaluateByRecipe({c, DrawInputs(c), native})}});
    return path;
  }
  static std::string Entry(const std::string& cases, const std::string& lines = "") {
    return "[[expect]]\ncases = \"" + cases + "\"\nreason = \"the mean\"\n" + lines;
  }
  const std::string kSoftmax = Entry("softmax *", "outcome = \"unsupported\"\n");
  const std::string kAll = Entry("rms_norm *", "cause = \"mean_subtracted\"\n") + kSoftmax;
};

TEST_F(ExpectTest, IsVerifiedIfEveryCaseHasItsExpectedResult) {
  EXPECT_EQ(RunWith(kAll), kVerified);
  EXPECT_THAT(stdout_, HasSubstr("as expected: fails: 2 cases: the mean (" +
                                 (folder_ / "known.toml:1") + ")\n"));
  EXPECT_THAT(stdout_, HasSubstr(": 3 cases: 3 as_expected; "));
  EXPECT_THAT(stdout_, Not(HasSubstr("FAILS")));
  EXPECT_EQ(report_["counts"]["as_expected"], 3);
  EXPECT_EQ(report_["counts"]["fail"], 2);
  EXPECT_EQ(report_["cases"][0]["expected"]["reason"], "the mean");
  EXPECT_THAT(junit_, HasSubstr("<skipped message=\"as expected: the mean\""));
  EXPECT_EQ(RunWith(kAll, {"--fail-fast"}), kVerified);
}

TEST_F(ExpectTest, EveryDifferenceIsNamedAndFails) {
  const auto expect_red = [&](const std::string& toml, const std::string& message) {
    EXPECT_EQ(RunWith(toml), kNonconforming) << toml;
    EXPECT_THAT(stdout_, HasSubstr(message));
  };
  expect_red(Entry("*N=1 *", "outcome = \"fails\"\n") + kSoftmax, "FAILS rms_norm eps=1e-05");
  expect_red(kAll + Entry("rope *"), "known.toml:9: it matches no case: cases = \"rope *\"\n");
  expect_red(kAll + Entry("*", "until = 2020-01-01\n"), "known.toml:9: expired after 2020-01-01");
  expect_red(Entry("rms_norm *", "cause = \"eps_missing\"\n") + kSoftmax,
             "known.toml:1: the expected cause is eps_missing, but likely is: ");
  expect_red(Entry("rms_norm *", "N = [0, 0]\n") + kSoftmax,
             "known.toml:1: y fails at N=1, expected only N=0..0\n");
  expect_red(Entry("rms_norm *") + Entry("softmax *"),
             "UNEXPECTED softmax M=2 N=1 dtype=f32 seed=1\n  " +
                 (folder_ / "known.toml:4: it is expected to be 'fails', but is 'unsupported'"));
}

// Of two cases that the general entry matches, the first one is repaired.
TEST_F(ExpectTest, AnEntryExemptsCasesFromALaterOne) {
  const std::string exempt = Entry("rms_norm *N=1 *", "outcome = \"conforms\"\n");
  const std::string general = Entry("*", "outcome = \"unsupported\"\n");
  const std::vector<std::string> words = {"rms_norm N=1 M=2", "softmax N=1 M=2", "--subject",
                                          "files:" + AnswersTo("rms_norm N=1 M=2"), "--expect"};
  const auto run = [&](const std::string& toml) {
    auto all = words;
    all.push_back(Write("known.toml", toml));
    return Run(all);
  };
  EXPECT_EQ(run(exempt + general), kVerified);
  EXPECT_THAT(stdout_, HasSubstr(": 2 cases: 1 as_expected, 1 faithful; "));
  EXPECT_THAT(junit_, HasSubstr("skipped=\"1\""));
  EXPECT_EQ(report_["counts"]["as_expected"], 1);
  EXPECT_EQ(report_["cases"][0]["expected"]["outcome"], "conforms");
  EXPECT_EQ(run(general + exempt), kNonconforming);
  EXPECT_THAT(stdout_, HasSubstr("but is 'conforms'\n"));
  EXPECT_THAT(stdout_,
              HasSubstr("known.toml:5: earlier entries decide every case that it matches"));
  EXPECT_EQ(RunWith(exempt + Entry("rms_norm *") + kSoftmax), kNonconforming);
  EXPECT_THAT(stdout_,
              HasSubstr("known.toml:1: it is expected to be 'conforms', but is 'fails'\n"));
}

// An expectation says nothing about other cases.
TEST_F(ExpectTest, CasesWithoutExpectationKeepTheirStatus) {
  EXPECT_EQ(RunWith(Entry("rms_norm *")), kIncomplete);
  EXPECT_EQ(RunWith(Entry("rms_norm *"), {"--supported-only"}), kVerified);
}

// So a part of the cases can be checked with the same file.
TEST_F(ExpectTest, EntriesOfFilteredCasesAreNotStale) {
  EXPECT_EQ(RunWith(kAll, {"--filter", "softmax"}), kVerified);
  EXPECT_EQ(RunWith(kAll, {"--exclude", "softmax"}), kVerified);
}

TEST_F(ExpectTest, AWrongFileIsRefusedBeforeAnyCaseRuns) {
  EXPECT_THROW(RunWith(Entry("rms_norm *", "T = [1]\n")), Error);
  EXPECT_THROW(RunWith("[[expect]]\n"), Error);
  EXPECT_THROW(Run({"rms_norm N=1 M=2", "--subject", "fast", "--expect", folder_ / "none.toml"}),
               Error);
  EXPECT_THROW(Run({"rms_norm N=1 M=2", "--subject", "fast", "--expect", folder_ / "."}), Error);
}

TEST_F(ExpectTest, AGeneralEntrySaysWhatMayFail) {
  const auto run = [&](const std::string& toml, const std::string& subject,
                       std::vector<std::string> words = {}) {
    words.insert(words.end(),
                 {"rms_norm N=2 M=2", "layer_norm N=1 M=2", "softmax N=1 M=2", "--subject", subject,
                  "--supported-only", "--expect", Write("known.toml", toml)});
    const int status = Run(words);
    EXPECT_EQ(report_["exit_status"], status);
    return status;
  };
  const std::string defect = "defect:rms_norm/mean_subtracted";
  const std::string may = Entry("*", "may = \"fail\"\ncause = \"mean_subtracted\"\n");
  EXPECT_EQ(run(may, defect), kVerified);  // the unsupported cases are accepted by the option
  EXPECT_EQ(report_["counts"]["as_expected"], 1);
  EXPECT_EQ(report_["counts"]["unsupported"], 2);
  EXPECT_EQ(run(Entry("*"), defect), kNonconforming);  // outcome = "fails" is said of every case
  EXPECT_EQ(run(Entry("*", "may = \"fail\"\ncause = \"eps_missing\"\n"), defect), kNonconforming);
  EXPECT_THAT(stdout_, HasSubstr("the expected cause is eps_missing"));
  EXPECT_EQ(run(may, "recipe:native"), kNonconforming);  // repaired
  EXPECT_THAT(stdout_, HasSubstr("known.toml:1: remove this entry, none of its cases is 'fails': "
                                 "cases = \"*\"\n"));
  EXPECT_EQ(run(may, "recipe:native", {"--filter", "rms_norm"}), kVerified);
  EXPECT_EQ(run(may, "recipe:native",
                {"--budget-elements", "1", "--sampled-is-enough", "rms_norm N=64 M=64"}),
            kVerified);
}

TEST_F(ExpectTest, AnEntryWhoseCasesAllConformIsToBeRemoved) {
  const std::string remove =
      "known.toml:1: remove this entry, none of its cases is 'fails': cases = \"rms_norm *\"\n";
  const std::vector<std::string> words = {"rms_norm N=1 M=2", "--subject", "recipe:native",
                                          "--expect", Write("known.toml", Entry("rms_norm *"))};
  EXPECT_EQ(Run(words), kNonconforming);
  EXPECT_THAT(stdout_, HasSubstr(remove));
  auto filtered = words;
  filtered.insert(filtered.end(), {"rms_norm N=2 M=2", "--filter", "N=1 "});
  EXPECT_EQ(Run(filtered), kNonconforming);
  EXPECT_THAT(stdout_, Not(HasSubstr(remove))) << "the case that is left out may fail";
}

TEST_F(ExpectTest, WritesFewGeneralEntries) {
  const std::string path = folder_ / "new.toml";
  const std::vector<std::string> words = {
      "rms_norm N=1 M=2", "rms_norm N=2 M=2", "rms_norm N=2 M=3 dtype=bf16",
      "softmax N=1 M=2",  "--subject",        "defect:rms_norm/mean_subtracted"};
  auto writing = words, reading = words;
  writing.insert(writing.end(), {"--write-expect", path});
  reading.insert(reading.end(), {"--expect", path});
  EXPECT_EQ(Run(writing), kNonconforming);
  const std::string text = fixtures::BytesOf(path);
  EXPECT_THAT(text, HasSubstr("cases = 'rms_norm *'"));
  EXPECT_THAT(text, HasSubstr("may = 'fail'"));
  EXPECT_THAT(text, HasSubstr("cause = 'mean_subtracted'"));
  EXPECT_LT(text.find("softmax"), text.find("rms_norm"));  // the general entry is the last
  EXPECT_EQ(Run(reading), kVerified);
  EXPECT_THAT(stdout_, HasSubstr("new.toml:1: 2 expectations without a reason"));
}

TEST_F(ExpectTest, WritesAFileThatExpectsTheRun) {
  const std::string path = folder_ / "new.toml";
  const std::vector<std::string> words = {"rms_norm N=1 M=2", "softmax N=1 M=2", "--subject",
                                          "defect:rms_norm/mean_subtracted"};
  auto writing = words, reading = words;
  writing.insert(writing.end(), {"--write-expect", path});
  reading.insert(reading.end(), {"--expect", path});
  EXPECT_EQ(Run(writing), kNonconforming);
  EXPECT_EQ(Run(reading), kVerified);
  EXPECT_THAT(stdout_, HasSubstr("new.toml:1: 2 expectations without a reason; this is the first"));
  EXPECT_EQ(report_["expectations_without_reason"], 2);
  EXPECT_THROW(Run(writing), Error);  // the reasons that people wrote are not lost
}

// These do not make the exit status differ from 0.
TEST_F(ExpectTest, DoesNotWriteAcceptedCases) {
  const std::string path = folder_ / "new.toml";
  EXPECT_EQ(Run({"softmax N=1 M=2", "rms_norm N=1 M=2", "--subject",
                 "defect:rms_norm/mean_subtracted", "--supported-only", "--write-expect", path}),
            kNonconforming);
  EXPECT_THAT(fixtures::BytesOf(path), Not(HasSubstr("softmax")));
  EXPECT_THAT(fixtures::BytesOf(path), HasSubstr("rms_norm"));
}

}  // namespace
}  // namespace sextant::tools
