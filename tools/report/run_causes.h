// The likely causes of the failures of a whole run, weighed. One bug has many descriptions in small
// cases: of all causes that the cases name, these are the few that explain as much as possible.
#pragma once

#include <string>
#include <vector>

#include "tools/report/report.h"

namespace sextant::tools {

struct RunCause {
  oracle::Cause cause;   // as the case says it in which most elements fail
  size_t cases = 0;      // failing cases that have this cause
  size_t new_cases = 0;  // those of them that no earlier cause of the list explains
  // The failing elements tell less than it takes to say it, or less than those tell that no cause
  // of the list explains; or conforming cases speak against it.
  bool only_possible = false;
  size_t refuting = 0;  // conforming cases that would fail by it (Report::refuting)
};

struct OperationCauses {
  std::string operation;
  size_t failing = 0, unexplained = 0;  // cases; those that none of these causes explains
  std::vector<RunCause> causes{};       // what explains most comes first
};

// Of each operation with failing cases, without those that fail as expected. A case tells as many
// bits as the logarithm of its failing elements, 16 at most, and 4 for each row. A cause is in the
// list if the cases that it explains, and no earlier one does, tell more than it takes to say it.
// The first is in it even so, as possible, and all if at most three cases fail. Of the only failure
// there are the causes that it says itself. What conforming cases speak against, unless it explains
// nearly all failures, and what only says where y is wrong, comes after all others.
std::vector<OperationCauses> CausesOf(const Report& report);

// "30 of 32 failing cases: likely cause defect:rms_norm/mean_subtracted (the mean is subtracted)",
// "2 others: possible cause rms_norm/unwritten (why)": what is measured is no subject's name. Empty
// if the run has one case.
std::vector<std::string> CauseLinesOf(const Report& report);

// The verdicts of the run; a failing case keeps only the causes that the list of the run has, all
// if it is alone or expected.
std::vector<oracle::Verdict> VerdictsOf(const Report& report);

}  // namespace sextant::tools
