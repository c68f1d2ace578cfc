// Results of `audit-suite`: numbers of cases, and the smallest sets of cases of --minimal.
#pragma once

#include <string>

#include "oracle/audit/audit.h"
#include "oracle/audit/hitting_set.h"

namespace sextant::tools {

// Numbers of cases, counted from 1, of their indices: "1-4 7".
std::string CaseNumbers(const std::vector<size_t>& indices);

// The defects of one operation that at least one case catches, and a smallest set of cases that
// catches all of them.
struct MinimalSet {
  std::string operation;
  size_t cases = 0;  // of that operation
  std::vector<oracle::TargetResult> defects;
  oracle::HittingSet found;

  // The defects that no case of the set except `index` catches.
  std::vector<std::string> CaughtOnlyBy(size_t index) const;
  // "rope: 5 of 26 cases catch all 76 defects that are caught; no smaller set does"
  std::string Summary() const;
};

// One set per operation, in the order of the audit. `steps` limits the search (hitting_set.h).
std::vector<MinimalSet> MinimalSets(const oracle::Audit& audit, const std::vector<Case>& cases,
                                    size_t steps = oracle::kSteps);

}  // namespace sextant::tools
