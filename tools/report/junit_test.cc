#include "tools/report/junit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures/store/temporary_folder_test.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;
using testing::HasSubstr;
using testing::Not;

// A report with one case per status, each case with one element.
Report ReportWith(const std::vector<Verdict::Status>& statuses) {
  Report report{.subject =
                    "some\x01"
                    "body",
                .recipe = "native"};
  for (const Verdict::Status status : statuses) {
    Verdict& verdict = report.verdicts.emplace_back();
    verdict.case_line = "rms_norm N=1 M=1";
    verdict.status = status;
    verdict.message = "because";
    verdict.tensors.resize(1);
    verdict.tensors[0].elements = verdict.tensors[0].judged = 1;
  }
  return report;
}

std::string Junit(const Report& report) {
  const fixtures::TemporaryFolder folder;
  OutputFile file(folder / "a.xml");
  WriteJunit(report, file);
  return fixtures::BytesOf(folder / "a.xml");
}

TEST(Junit, WritesTheStatusOfEachCase) {
  using enum Verdict::Status;
  const std::string xml =
      Junit(ReportWith({kConforms, kFails, kUnverified, kUnsupported, kCouldNotRun, kCouldNotRun}));
  EXPECT_THAT(xml, HasSubstr("tests=\"6\" failures=\"1\" errors=\"2\" skipped=\"2\""));
  EXPECT_THAT(xml, HasSubstr("<error message=\"because\">because\nrepeat: sextant check '"));
  EXPECT_THAT(xml, HasSubstr("name=\"some?body\""));  // XML forbids control characters
  EXPECT_THAT(xml, testing::Not(HasSubstr("<system-out")));
}

TEST(Junit, HasNoFailureIfAllCasesConform) {
  const std::string xml = Junit(ReportWith({Verdict::Status::kConforms}));
  EXPECT_THAT(xml, HasSubstr("tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"0\""));
}

// The exit status is then 3, so the XML must have an error as well.
TEST(Junit, HasAnErrorIfTheSubjectMisbehavesAtItsEnd) {
  Report report = ReportWith({Verdict::Status::kConforms});
  report.after_last_answer = "it wrote 'x\u202e' after its answer";
  EXPECT_EQ(report.Status(), kNotRun);
  const std::string xml = Junit(report);
  EXPECT_THAT(xml, HasSubstr("tests=\"2\" failures=\"0\" errors=\"1\" skipped=\"0\""));
  EXPECT_THAT(xml, HasSubstr("<error message=\"it wrote 'x\?\?\?' after its answer\""));
}

TEST(Junit, SkipsCasesIfNoCaseHasAnElement) {
  Report report = ReportWith({Verdict::Status::kConforms, Verdict::Status::kConforms});
  report.verdicts[0].tensors[0].elements = report.verdicts[0].tensors[0].judged = 0;
  EXPECT_THAT(Junit(report), HasSubstr("skipped=\"0\""));
  report.verdicts.pop_back();
  EXPECT_EQ(report.Status(), kNothing);
  EXPECT_THAT(Junit(report), HasSubstr("skipped=\"1\""));
}

}  // namespace
}  // namespace sextant::tools
