#include "tools/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <iostream>

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

// A conforming case: output y has four elements, two judged and two unjudgeable.
struct Example {
  Example() {
    verdict.case_line = "rms_norm N=1 M=4";
    verdict.grade = Grade::kExact;
    verdict.tensors.resize(1);
    oracle::TensorVerdict& y = verdict.tensors[0];
    y.name = "y";
    y.elements = 4;
    y.judged = y.unjudgeable = 2;
  }
  std::string Line() const {
    return Printed([&] { PrintVerdict(report, verdict, {std::cout}); });
  }
  Verdict verdict;
  Report report{.subject = "my_kernels", .recipe = "native"};
};

TEST(Report, DoesNotPrintConformingCases) { EXPECT_EQ(Example().Line(), ""); }

TEST(Report, PrintsUnlikelyCasesAlthoughTheyConform) {
  Example at;
  at.verdict.grade = at.verdict.tensors[0].grade = Grade::kUnlikely;
  at.verdict.tensors[0].unlikely = 1;
  EXPECT_THAT(at.Line(), testing::StartsWith("unlikely rms_norm N=1 M=4\n"));
  at.verdict.tensors[0].worst.likely = 0.25;
  EXPECT_THAT(at.Line(), HasSubstr("1 have larger errors than independent roundings give"));
  EXPECT_THAT(at.Line(), HasSubstr(", likely at most 0.25\n"));
  at.report.strict = true;
  EXPECT_THAT(at.Line(), testing::StartsWith("FAILS rms_norm N=1 M=4\n"));
}

TEST(Report, SaysWhatIsSpecifiedApartFromNumbers) {
  Example at;
  at.verdict.status = Verdict::Status::kFails;
  at.verdict.grade = at.verdict.tensors[0].grade = Grade::kFails;
  at.verdict.tensors[0].failed = 1;
  at.verdict.tensors[0].worst = {.where = "y[0,1]", .got = 448, .expected = kNaN};
  EXPECT_THAT(at.Line(), HasSubstr("y[0,1]: got 448 (0x1.cp+8), exact NaN (specified), off by"));
  at.verdict.tensors[0].worst = {.where = "y[0,1]", .got = 0, .expected = -0.0};
  EXPECT_THAT(at.Line(),
              HasSubstr("exact -0 (-0x0p+0), off by 0, permitted 0; the sign of this zero "
                        "is specified\n"));
}

// The bug may show only with other inputs, or may be repaired: the committed case tells.
TEST(Report, AFreshCaseMayConformAlthoughAFailureIsExpected) {
  Example at;
  at.report.expectations = Expectations::Parse(
      "[[expect]]\ncases = \"rms_norm N=1 M=4\"\nreason = \"r\"\n", "known.toml", {});
  EXPECT_EQ(at.report.Assess(at.verdict).result, Result::kUnexpected);
  at.report.fresh = FreshCases{7, {{"rms_norm N=1 M=4 seed=9", at.verdict.case_line}}};
  EXPECT_EQ(at.report.Assess(at.verdict).result, Result::kUnexpected);
  at.verdict.case_line += " seed=9";
  EXPECT_EQ(at.report.Assess(at.verdict).result, Result::kPasses);
  at.verdict.status = Verdict::Status::kFails;
  EXPECT_EQ(at.report.Assess(at.verdict).result, Result::kAsExpected);
}

// Only what the inputs leave unspecified is accepted: an answer may hide in vacuous elements by
// leaving out its intermediates.
TEST(Report, AFreshCaseMayBeUnverifiedOnlyByItsInputs) {
  Example at;
  at.report.fresh = FreshCases{7, {{at.verdict.case_line, "rms_norm N=1 M=4 seed=9"}}};
  at.verdict.status = Verdict::Status::kUnverified;
  at.verdict.tensors[0].unjudgeable = 0;
  EXPECT_EQ(at.report.Assess(at.verdict).result, Result::kUnverified);
  at.verdict.tensors[0].unspecified = 1;
  EXPECT_EQ(at.report.Assess(at.verdict).result, Result::kOpenByInputs);
  at.report.expectations =
      Expectations::Parse("[[expect]]\ncases = \"rms_norm *\"\nreason = \"r\"\n", "known.toml", {});
  EXPECT_EQ(at.report.Assess(at.verdict).result, Result::kOpenByInputs);
  at.report.expectations = {};
  for (size_t oracle::TensorVerdict::*const open :
       {&oracle::TensorVerdict::vacuous, &oracle::TensorVerdict::unjudgeable,
        &oracle::TensorVerdict::loose}) {
    Verdict verdict = at.verdict;
    verdict.tensors[0].*open = 1;
    EXPECT_EQ(at.report.Assess(verdict).result, Result::kUnverified);
  }
}

// The grade counts with --strict even if no element of the case could have failed.
TEST(Report, UnlikelyUnverifiedCasesFailIfStrict) {
  Example at;
  at.verdict.status = Verdict::Status::kUnverified;
  at.verdict.grade = at.verdict.tensors[0].grade = Grade::kUnlikely;
  at.verdict.tensors[0].judged = 0;
  at.report.verdicts = {at.verdict};
  EXPECT_EQ(at.report.Status(), kIncomplete);
  at.report.strict = true;
  EXPECT_EQ(at.report.Status(), kNonconforming);
}

// Only the elements of the trace, computed from the subject's own intermediates, are judged.
TEST(Report, ACaseWithAJudgedTraceIsVerified) {
  Example at;
  at.verdict.tensors[0].judged = 0;
  at.report.verdicts = {at.verdict};
  EXPECT_EQ(at.report.Status(), kIncomplete);
  auto& trace = at.report.verdicts[0].trace;
  trace.resize(1);
  trace[0].judged = 4;
  EXPECT_EQ(at.report.Status(), kVerified);
}

// Bytes after the last answer may be the answer to another question.
TEST(Report, StatusIsNotRunIfTheSubjectMisbehavesAtItsEnd) {
  Example at;
  at.report.verdicts = {at.verdict};
  EXPECT_EQ(at.report.Status(), kVerified);
  at.report.after_last_answer = "it wrote 'x'";
  EXPECT_EQ(at.report.Status(), kNotRun);
  EXPECT_THAT(Printed([&] { PrintSummary(at.report, std::cout); }),
              HasSubstr("after the last case, my_kernels misbehaved: it wrote 'x'\n"));
  at.report.verdicts[0].status = Verdict::Status::kFails;
  EXPECT_EQ(at.report.Status(), kNonconforming);
}

TEST(Report, SummaryCountsElementsThatCannotFail) {
  Example at;
  at.report.verdicts = {at.verdict};
  const std::string summary = Printed([&] { PrintSummary(at.report, std::cout); });
  EXPECT_THAT(summary, HasSubstr("2 of 4 elements judged, 2 unjudgeable; vacuous and "
                                 "unjudgeable elements cannot fail"));
}

}  // namespace
}  // namespace sextant::tools
