#include "tools/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

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
  EXPECT_THAT(at.Line(), HasSubstr("1 are off by more than independent roundings give"));
  at.report.strict = true;
  EXPECT_THAT(at.Line(), testing::StartsWith("FAILS rms_norm N=1 M=4\n"));
}

TEST(Report, SaysThatElementsMayBeAnything) {
  Judged at;
  at.report.verdicts = {at.verdict};
  const std::string summary = Printed([&] { PrintSummary(at.report); });
  EXPECT_THAT(summary, HasSubstr("2 of 4 elements judged, 2 unjudgeable; what is vacuous or "
                                 "unjudgeable may be anything and conforms"));
}

}  // namespace
}  // namespace sextant::tools
