#include "tools/report/markdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "fixtures/store/temporary_folder_test.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;
using testing::HasSubstr;
using testing::Not;

Report ReportOf(size_t cases, Verdict::Status status, const std::string& message = "because") {
  Report report{.subject = "mine", .recipe = "native"};
  for (size_t i = 0; i < cases; ++i) {
    Verdict& verdict = report.verdicts.emplace_back();
    verdict.case_line = "rms_norm N=" + std::to_string(i);
    verdict.status = status;
    verdict.grade = oracle::Grade::kExact;
    verdict.message = message;
    verdict.tensors.resize(1);
    verdict.tensors[0].elements = verdict.tensors[0].judged = 1;
  }
  return report;
}

TEST(Markdown, SaysWhyTheRunIsNotVerified) {
  EXPECT_THAT(MarkdownOf(ReportOf(2, Verdict::Status::kConforms)),
              HasSubstr("**Verified.** 2 of 2 elements judged.\n\n| result | cases |\n|---|---|\n"
                        "| exact | 2 |\n"));
  const std::string text = MarkdownOf(ReportOf(1, Verdict::Status::kCouldNotRun));
  EXPECT_THAT(text, HasSubstr("**Exit status 3**: 1 case could not run. "));
  EXPECT_THAT(text,
              HasSubstr("- **could_not_run** `rms_norm N=0`\n\n      because\n      repeat: "));
}

TEST(Markdown, NamesNoCaseThatConforms) {
  EXPECT_THAT(MarkdownOf(ReportOf(2, Verdict::Status::kConforms)), Not(HasSubstr("rms_norm N=")));
}

TEST(Markdown, SaysWhatCameAfterTheLastAnswer) {
  Report report = ReportOf(1, Verdict::Status::kConforms);
  report.after_last_answer = "it wrote more";
  EXPECT_THAT(MarkdownOf(report), HasSubstr("- `after the last case: it wrote more`\n"));
}

TEST(Markdown, SaysWhichPartWasJudged) {
  Report report = ReportOf(2, Verdict::Status::kConforms);
  report.verdicts[1].sample = {
      .elements = 3, .all_elements = 9, .slices = 1, .all_slices = 3, .seed = 4};
  report.budget.seed = 4;
  std::string text = MarkdownOf(report);
  EXPECT_THAT(text, HasSubstr("**Exit status 5**: 1 case judged only in part "));
  EXPECT_THAT(text, HasSubstr("\nJudged in part: 1 case, 3 of 9 elements, chosen at random with "
                              "seed 4.\n"));
  EXPECT_THAT(text, HasSubstr("- **exact** `rms_norm N=1`\n"));
  EXPECT_THAT(text, HasSubstr("\n      judged in part: 3 of 9 elements, 1 of 3 slices, chosen with "
                              "seed 4\n"));
  report.sampled_is_enough = true;
  text = MarkdownOf(report);
  EXPECT_THAT(text, HasSubstr("**Verified.**"));
  EXPECT_THAT(text, HasSubstr("\nJudged in part: 1 case, 3 of 9 elements"));
}

// GitHub refuses more than 1 MiB.
TEST(Markdown, IsBounded) {
  const std::string text =
      MarkdownOf(ReportOf(2000, Verdict::Status::kFails, std::string(1 << 20, 'x')));
  EXPECT_LT(text.size(), 1u << 20);
  EXPECT_THAT(text, HasSubstr("\nand 1950 more cases\n"));
}

// Text of the subject cannot end the code block or start HTML.
TEST(Markdown, QuotesTextOfTheSubject) {
  const std::string text =
      MarkdownOf(ReportOf(1, Verdict::Status::kCouldNotRun, "```\n<b>x</b>\n# title"));
  EXPECT_THAT(text, HasSubstr("\n      ```\n      <b>x</b>\n      # title\n"));
}

TEST(Markdown, AppendsToTheFileOfTheEnvironment) {
  const fixtures::TemporaryFolder folder;
  const Report report = ReportOf(1, Verdict::Status::kConforms);
  setenv("GITHUB_STEP_SUMMARY", (folder / "a.md").c_str(), 1);
  AppendStepSummary(report);
  AppendStepSummary(report);
  EXPECT_EQ(fixtures::BytesOf(folder / "a.md"), MarkdownOf(report) + MarkdownOf(report));
  setenv("GITHUB_STEP_SUMMARY", (folder / "none/a.md").c_str(), 1);
  EXPECT_THROW(AppendStepSummary(report), Error);
  setenv("GITHUB_STEP_SUMMARY", "", 1);
  EXPECT_NO_THROW(AppendStepSummary(report));
  unsetenv("GITHUB_STEP_SUMMARY");
  EXPECT_NO_THROW(AppendStepSummary(report));
}

}  // namespace
}  // namespace sextant::tools
