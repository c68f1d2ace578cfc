#include "tools/report/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sextant::tools {
namespace {

using oracle::Verdict;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The verdicts on cases of which those of the first argument are answered.
Report ReportOn(const std::vector<std::string>& answered,
                const std::vector<std::string>& unsupported, const std::string& message = "no") {
  Report report{.subject = "mine", .recipe = "native"};
  for (const std::string& line : answered) {
    Verdict verdict{.case_line = Case::Parse(line).ToString(),
                    .status = Verdict::Status::kConforms,
                    .message = "",
                    .tensors = {},
                    .trace = {},
                    .causes = {}};
    verdict.grade = oracle::Grade::kExact;
    verdict.tensors.resize(1);
    report.verdicts.push_back(verdict);
  }
  for (const std::string& line : unsupported) {
    report.verdicts.push_back({.case_line = Case::Parse(line).ToString(),
                               .status = Verdict::Status::kUnsupported,
                               .message = message,
                               .tensors = {},
                               .trace = {},
                               .causes = {}});
  }
  return report;
}

const std::vector<std::string> kUnsupported = {
    "attention H=2 S=1 T=5 D=4 E=2", "attention H=2 S=1 T=5 D=64 E=2 dtype=bf16",
    "attention H=2 S=1 T=5 D=4", "attention H=2 S=1 T=5 D=96 E=64 dtype=bf16"};

TEST(Advice, SaysWhatAnsweredCasesHaveInCommon) {
  const Report report = ReportOn(
      {"attention H=2 S=1 T=5 D=64 dtype=bf16", "attention H=2 S=1 T=9 D=128"}, kUnsupported);
  EXPECT_THAT(
      AdviceOf(report),
      ElementsAre("4 of 6 cases are unsupported:",
                  "attention: D=64 or 128 and E=64 or 128 in all 2 answered cases, and in none of "
                  "the 4 unsupported",
                  "these cases with the words of your kernel: --with 'D=64 E=64'",
                  "to accept that the subject declines cases: --supported-only"));
}

TEST(Advice, CountsUnsupportedCasesThatHaveItToo) {
  const Report report =
      ReportOn({"softmax N=1 M=64"}, {"softmax N=1 M=64 dtype=bf16", "softmax N=2 M=64",
                                      "softmax N=1 M=64 seed=2", "softmax N=1 M=4"});
  EXPECT_THAT(AdviceOf(report), Contains("softmax: M=64 and dtype=f32 in the one answered "
                                         "case, and in 2 of the 4 unsupported"));
}

// Without an answer only the subject's own words tell; nothing is guessed.
TEST(Advice, SaysTheReasonsIfNoCaseWasAnswered) {
  std::vector<std::string> unsupported = kUnsupported;
  unsupported.push_back("attention H=1 S=1 T=5 D=8");
  const auto advice = AdviceOf(ReportOn({}, unsupported, "supports only D=64 here\n| more"));
  EXPECT_THAT(advice,
              Contains("attention: 5 of the 5 unsupported because: supports only D=64 here"));
  EXPECT_THAT(advice, Contains(HasSubstr("--with 'D=64'")).Times(1));
  EXPECT_THAT(AdviceOf(ReportOn({}, unsupported, "too narrow")),
              Contains(HasSubstr("--with 'D=64 E=64 dtype=bf16'")));
}

TEST(Advice, ACaseThatCouldNotRunIsNoAnswer) {
  Report report = ReportOn({}, kUnsupported, "too narrow");
  oracle::Verdict& verdict = report.verdicts.emplace_back();
  verdict.case_line = "rms_norm N=1 M=2";
  verdict.status = oracle::Verdict::Status::kCouldNotRun;
  EXPECT_THAT(AdviceOf(report), Contains(HasSubstr("attention: ")));
}

TEST(Advice, NamesTheFilesWithRealShapes) {
  Report report = ReportOn({"attention H=2 S=1 T=5 D=64"}, kUnsupported);
  report.real_cases = {"cases/real/attention.cases"};
  report.supported_only = true;
  const auto advice = AdviceOf(report);
  EXPECT_THAT(
      advice,
      Contains("the shapes of real kernels: sextant check "
               "'cases/real/attention.cases' --subject 'mine' --with 'D=64 E=64 dtype=f32'"));
  EXPECT_THAT(advice, Not(Contains(HasSubstr("--supported-only"))));
}

// A subject has one operation: cases of others say nothing about it.
TEST(Advice, NoWordsHelpAFunctionThatLacksAParameter) {
  Report report = ReportOn({}, {"softmax N=1 M=2", "softmax N=1 M=3", "softmax N=1 M=4",
                                "softmax N=1 M=5", "softmax N=1 M=6"});
  for (oracle::Verdict& verdict : report.verdicts)
    verdict.message = "the function takes no 'x', add a parameter x";
  EXPECT_THAT(AdviceOf(report),
              testing::ElementsAre("5 of 5 cases are unsupported:",
                                   "softmax: 5 of the 5 unsupported because: the function takes no "
                                   "'x', add a parameter x"));
}

TEST(Advice, IsAboutTheOperationsThatAreAnswered) {
  std::vector<std::string> unsupported = kUnsupported;
  unsupported.push_back("softmax N=1 M=5");
  const auto advice = AdviceOf(ReportOn({"softmax N=1 M=4"}, unsupported));
  EXPECT_THAT(advice, Contains(HasSubstr("softmax: M=4 and dtype=f32 in the one answered case")));
  EXPECT_THAT(advice, Not(Contains(HasSubstr("attention"))));
}

TEST(Advice, IsEmptyIfMostCasesAreSupportedOrThereAreFew) {
  const std::vector<std::string> answered(4, "attention H=2 S=1 T=5 D=64");
  EXPECT_THAT(AdviceOf(ReportOn(answered, kUnsupported)), IsEmpty());
  EXPECT_THAT(AdviceOf(ReportOn({}, kUnsupported)), IsEmpty());
  Report expected = ReportOn(
      {}, {kUnsupported[0], kUnsupported[0], kUnsupported[0], kUnsupported[1], kUnsupported[2]});
  EXPECT_THAT(AdviceOf(expected), Not(IsEmpty()));
  expected.expectations = Expectations::Parse(
      "[[expect]]\ncases = \"attention *\"\noutcome = \"unsupported\"\nreason = \"r\"\n", "k.toml",
      {});
  EXPECT_THAT(AdviceOf(expected), IsEmpty());
}

}  // namespace
}  // namespace sextant::tools
