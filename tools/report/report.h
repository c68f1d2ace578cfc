// The verdicts of one run of `check`, and what they come to. It is told as text (report_text.h), as
// JSON (report_json.h) and as JUnit's XML (junit.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/judge/judge.h"
#include "tools/api/exit_status.h"

namespace sextant::tools {

// The verdicts of one run, in the order of the cases.
struct Report {
  std::string subject, recipe;
  bool strict = false;    // the grade `unlikely` counts as a failure
  std::string timeout{};  // of one case, in seconds, if it was given
  std::vector<oracle::Verdict> verdicts{};
  std::string after_last_answer{};  // what was wrong with how the subject left, if anything

  bool Fails(const oracle::Verdict& verdict) const;
  ExitStatus Status() const;
};

// True if an element of it could have failed.
bool Judges(const oracle::Verdict& verdict);

std::string_view NameOf(oracle::Grade grade);
std::string_view NameOf(oracle::Verdict::Status status);

// What there is to say of a case beyond its status; several lines.
std::string Details(const oracle::Verdict& verdict);
// For a POSIX shell.
std::string RepeatCommand(const Report& report, const oracle::Verdict& verdict);

}  // namespace sextant::tools
