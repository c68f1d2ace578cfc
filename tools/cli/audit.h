// What `audit-suite` tells of the smallest set of cases.
#pragma once

#include <string>

#include "oracle/audit/audit.h"
#include "oracle/audit/hitting_set.h"

namespace sextant::tools {

// Of the defects of one operation those that some case catches, and a smallest set of cases that
// catches them.
struct Minimal {
  std::string operation;
  size_t cases = 0;  // of that operation
  std::vector<oracle::Caught> defects;
  oracle::HittingSet found;

  // The defects that, of the set, `index` alone catches.
  std::vector<std::string> OnlyBy(size_t index) const;
  // "rope: 5 of 26 cases catch all 76 defects, no fewer do"
  std::string Summary() const;
};

// One per operation, in the order of the audit.
std::vector<Minimal> MinimalSets(const oracle::Audit& audit, const std::vector<Case>& cases,
                                 size_t steps = oracle::kSteps);

}  // namespace sextant::tools
