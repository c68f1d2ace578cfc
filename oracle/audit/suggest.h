// Suggests cases that close the gaps of an audit. For a missing dtype these are cases of the suite
// in that dtype; for a target that no case catches, random cases (oracle/property/random_case.h).
#pragma once

#include <string>
#include <vector>

#include "oracle/audit/audit.h"

namespace sextant::oracle {

struct Suggestion {
  Case c;
  // "negative_position_clamped in bf16"; targets caught by the fewest suggestions come first
  std::vector<std::string> closes;
};

struct Suggestions {
  std::vector<Suggestion> cases;      // as few as possible per operation and dtype
  std::vector<std::string> uncaught;  // "rope/position_zero": targets for which no case was found
};

struct SuggestOptions {
  AuditOptions audit;
  size_t tries = 300;  // number of random cases per operation; each is tried in every dtype
};

// The case line without the words that equal their defaults.
std::string ShortestLine(const Case& c);

// Precondition: `audit` is the audit of `cases` with `all_retyped`.
Suggestions Suggest(const Audit& audit, const std::vector<Case>& cases,
                    const SuggestOptions& options = {});

}  // namespace sextant::oracle
