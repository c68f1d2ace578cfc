// The result of one run of `check`: its verdicts and exit status. It is printed as text
// (report_text.h), JSON (report_json.h) and JUnit XML (junit.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/judge/judge.h"
#include "tools/api/exit_status.h"
#include "tools/api/judgement.h"

namespace sextant::tools {

// The verdicts of one run, in the order of the cases.
struct Report {
  std::string subject, recipe;
  bool strict = false;    // the grade `unlikely` counts as a failure
  std::string timeout{};  // seconds per case; empty for the default
  std::vector<oracle::Verdict> verdicts{};
  std::string after_last_answer{};  // how the subject broke the protocol at its end; empty if not

  bool Fails(const oracle::Verdict& verdict) const;
  ExitStatus Status() const;
};

// A run of which the judgement is the only verdict.
Report ReportOf(const Judgement& judgement);

// True if at least one element of the case was judged, so that it could have failed.
bool HasJudgedElement(const oracle::Verdict& verdict);

std::string_view NameOf(oracle::Grade grade);
std::string_view NameOf(oracle::Verdict::Status status);

// "80 of 80 elements judged", and the numbers of elements that could not fail.
std::string ElementCounts(const std::vector<oracle::Verdict>& verdicts);

// Messages and worst elements of a case, and its likely causes: lines without a newline at the end.
std::string FailureLines(const oracle::Verdict& verdict);
std::string CauseLines(const oracle::Verdict& verdict);
std::string Details(const oracle::Verdict& verdict);  // both
// The command that judges the case again, quoted for a POSIX shell.
std::string RepeatCommand(const Report& report, const oracle::Verdict& verdict);

}  // namespace sextant::tools
