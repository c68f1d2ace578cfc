// What `check` tells: a line per failure, a summary, JSON. JUnit is in junit.h.
#pragma once

#include <string>
#include <vector>

#include "oracle/judge/judge.h"
#include "tools/api/exit_status.h"
#include "tools/api/replace.h"

namespace sextant::tools {

// The verdicts of one run, in the order of the cases.
struct Report {
  std::string subject, recipe;
  bool strict = false;    // the grade `unlikely` counts as a failure
  std::string timeout{};  // of one case, in seconds, if it was given
  std::vector<oracle::Verdict> verdicts{};
  std::string parting_words{};  // what was wrong with how the subject left, if anything

  bool Fails(const oracle::Verdict& verdict) const;
  ExitStatus Status() const;
};

// True if an element of it could have failed.
bool Judges(const oracle::Verdict& verdict);

// What there is to say of a case beyond its status; several lines.
std::string Details(const oracle::Verdict& verdict);
// For a POSIX shell.
std::string RepeatCommand(const Report& report, const oracle::Verdict& verdict);

// One line, and for what did not conform the command that repeats it.
void PrintVerdict(const Report& report, const oracle::Verdict& verdict);
void PrintSummary(const Report& report);

// Throws Error.
void WriteJson(const Report& report, OutputFile& file);

}  // namespace sextant::tools
