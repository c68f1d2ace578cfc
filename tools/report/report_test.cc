#include "tools/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "tools/report/report_text.h"

namespace sextant::tools {
namespace {

using oracle::Grade;
using oracle::Verdict;
using testing::HasSubstr;

std::string Printed(const std::function<void()>& print) {
  testing::internal::CaptureStdout();
  print();
  return testing::internal::GetCapturedStdout();
}

// Four elements of y, of which one is off by more than is likely and two may be anything.
struct Judged {
  Judged() {
    verdict.case_line = "rms_norm N=1 M=4";
    verdict.grade = Grade::kExact;
    verdict.tensors.resize(1);
    oracle::TensorVerdict& y = verdict.tensors[0];
    y.name = "y";
    y.elements = 4;
    y.judged = y.unjudgeable = 2;
  }
  std::string Line() const {
    return Printed([&] { PrintVerdict(report, verdict); });
  }
  Verdict verdict;
  Report report{.subject = "somebody", .recipe = "native"};
};

TEST(Report, WhatConformsIsNotPrinted) { EXPECT_EQ(Judged().Line(), ""); }

TEST(Report, WhatIsUnlikelyIsPrintedThoughItConforms) {
  Judged at;
  at.verdict.grade = at.verdict.tensors[0].grade = Grade::kUnlikely;
  at.verdict.tensors[0].unlikely = 1;
  EXPECT_THAT(at.Line(), testing::StartsWith("unlikely rms_norm N=1 M=4\n"));
  at.verdict.tensors[0].worst.likely = 0.25;
  EXPECT_THAT(at.Line(), HasSubstr("1 are off by more than independent roundings give"));
  EXPECT_THAT(at.Line(), HasSubstr(", likely at most 0.25\n"));
  at.report.strict = true;
  EXPECT_THAT(at.Line(), testing::StartsWith("FAILS rms_norm N=1 M=4\n"));
}

// Where nothing could fail, too, --strict takes the word of the likely errors.
TEST(Report, WhatIsUnlikelyFailsStrictlyThoughUnverified) {
  Judged at;
  at.verdict.status = Verdict::Status::kUnverified;
  at.verdict.grade = at.verdict.tensors[0].grade = Grade::kUnlikely;
  at.verdict.tensors[0].judged = 0;
  at.report.verdicts = {at.verdict};
  EXPECT_EQ(at.report.Status(), kIncomplete);
  at.report.strict = true;
  EXPECT_EQ(at.report.Status(), kNonconforming);
}

// By the subject's own tensors alone.
TEST(Report, WhatIsJudgedInATraceIsJudged) {
  Judged at;
  at.verdict.tensors[0].judged = 0;
  at.report.verdicts = {at.verdict};
  EXPECT_EQ(at.report.Status(), kIncomplete);
  auto& trace = at.report.verdicts[0].trace;
  trace.resize(1);
  trace[0].judged = 4;
  EXPECT_EQ(at.report.Status(), kVerified);
}

// What it wrote after its last answer may be the answer to another question.
TEST(Report, ASubjectThatMisbehavedAtTheEndWasNotRun) {
  Judged at;
  at.report.verdicts = {at.verdict};
  EXPECT_EQ(at.report.Status(), kVerified);
  at.report.after_last_answer = "it wrote 'x'";
  EXPECT_EQ(at.report.Status(), kNotRun);
  EXPECT_THAT(Printed([&] { PrintSummary(at.report); }),
              HasSubstr("after the last case, somebody misbehaved: it wrote 'x'\n"));
  at.report.verdicts[0].status = Verdict::Status::kFails;
  EXPECT_EQ(at.report.Status(), kNonconforming);
}

TEST(Report, SaysThatElementsCannotFail) {
  Judged at;
  at.report.verdicts = {at.verdict};
  const std::string summary = Printed([&] { PrintSummary(at.report); });
  EXPECT_THAT(summary, HasSubstr("2 of 4 elements judged, 2 unjudgeable; what is vacuous or "
                                 "unjudgeable cannot fail"));
}

}  // namespace
}  // namespace sextant::tools
