// Prints a report as text.
#pragma once

#include <ostream>

#include "tools/report/report.h"

namespace sextant::tools {

struct TextOutput {
  std::ostream& out;
  bool verbose = false;      // one line for each case that needs no attention, and every failure
  bool short_lines = false;  // of cases: without defaults
};

// Prints the case, its details and the command that repeats it. Failures of one likely cause are
// one entry: the first has all of it, the next two are named, the others counted in the summary.
// Why a case fails is said in the summary, by all of them: here only if the run has one case or
// the output is verbose. Cases that conform and are not unlikely, cases with their expected result,
// and unsupported cases if `supported_only`, need no attention.
void PrintVerdict(const Report& report, const oracle::Verdict& verdict, const TextOutput& to);
void PrintSummary(const Report& report, std::ostream& out);

// The cases that need no attention although they do not conform, in groups of one reason each.
struct AcceptedGroup {
  std::string result;           // "as expected: fails", "unsupported"
  std::string reason;           // of the expectation, or the message of the subject
  std::string where{}, link{};  // of the expectation
  size_t cases = 0;
};
std::vector<AcceptedGroup> AcceptedGroups(const Report& report);
std::string TextOf(
    const AcceptedGroup& group);  // "as expected: fails: 3 cases: reason (known.toml:3)"

// Expectations whose reason nobody has written yet: a message, or an empty text.
std::string MissingReasons(const Report& report);

}  // namespace sextant::tools
