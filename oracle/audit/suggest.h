// Case lines that close what an audit leaves open: cases of the suite in another dtype where a
// dtype is missing, and random cases (oracle/property/random_case.h) where no case catches a
// target.
#pragma once

#include <string>
#include <vector>

#include "oracle/audit/audit.h"

namespace sextant::oracle {

struct Suggestion {
  Case c;
  // "negative_position_clamped in bf16"; first what the fewest suggested cases close
  std::vector<std::string> closes;
};

struct Suggestions {
  std::vector<Suggestion> cases;  // per operation and dtype as few as possible
  std::vector<std::string> open;  // "rope/position_zero in bf16": no case was found
};

struct SuggestOptions {
  AuditOptions audit;
  size_t tries = 300;  // random cases of an operation; each is asked in every dtype
};

// The line without the words that are defaults.
std::string ShortestLine(const Case& c);

// `audit` is that of `cases` with `all_retyped`.
Suggestions Suggest(const Audit& audit, const std::vector<Case>& cases,
                    const SuggestOptions& options = {});

}  // namespace sextant::oracle
