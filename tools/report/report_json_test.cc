#include "tools/report/report_json.h"

#include <gtest/gtest.h>

#include "fixtures/store/temporary_folder_test.h"
#include "reference/base/json.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

Json Written(const Report& report) {
  const fixtures::TemporaryFolder folder;
  OutputFile file(folder / "a.json");
  WriteJson(report, file);
  return ParseJson(fixtures::BytesOf(folder / "a.json"), 8);
}

// An unlikely case conforms, but fails with --strict, as for the exit status.
TEST(ReportJson, CountsUnlikelyCasesAsFailingIfStrict) {
  Report report{.subject = "my_kernels", .recipe = "native"};
  Verdict& verdict = report.verdicts.emplace_back();
  verdict.case_line = "rms_norm N=1 M=1";
  verdict.grade = oracle::Grade::kUnlikely;
  verdict.tensors.resize(1);
  verdict.tensors[0].grade = *verdict.grade;
  verdict.tensors[0].elements = verdict.tensors[0].judged = 1;
  EXPECT_EQ(Written(report)["counts"]["conform"], 1);
  EXPECT_EQ(Written(report)["counts"]["fail"], 0);
  report.strict = true;
  EXPECT_EQ(Written(report)["counts"]["conform"], 0);
  EXPECT_EQ(Written(report)["counts"]["fail"], 1);
  EXPECT_EQ(Written(report)["exit_status"], kNonconforming);
}

}  // namespace
}  // namespace sextant::tools
