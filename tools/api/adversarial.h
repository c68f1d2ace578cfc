// Questions around each case, for subjects that know answers instead of computing them: by the
// address, the shape or a part of an input, from another question, or for committed inputs only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/api/fresh_cases.h"
#include "tools/api/judge_subject.h"

namespace sextant::tools {

struct CasesToAttack {
  const std::vector<Selected>& cases;  // those of TakeFreshCases
  const oracle::Subject& subject;
  JudgeSubjectOptions options;
};

// Asks each case; then, with equal shapes and with other ones, questions to which the same answer
// would be wrong, and the case again: in the same memory and elsewhere, later, in a new process.
// The first answer is judged as a whole, and so is each that has other bits than one to the same
// question, or the bits of one to another question: of large cases a part. So an answer that varies
// within what its recipe permits is right. Of the others as many are judged, by chance, as take no
// more work than the first one. Calls take(verdict) for each case,
// in order, until it returns false: of the first answer, or of a failing later one, with what was
// found as its first cause. Counts the questions in `fresh`. Throws what JudgeCases throws.
void AttackCases(const CasesToAttack& all, FreshCases& fresh,
                 const std::function<bool(oracle::Verdict)>& take);

// While it exists, processes of the same user cannot read the memory of this one, which has
// expected values and seeds. Processes that it starts get memory that holds other bytes each time
// instead of zeros, if they use the malloc of glibc.
class ScopedSecrecy {
 public:
  explicit ScopedSecrecy(uint64_t seed);
  ~ScopedSecrecy();
  ScopedSecrecy(const ScopedSecrecy&) = delete;
  ScopedSecrecy& operator=(const ScopedSecrecy&) = delete;

 private:
  int was_dumpable_;
  std::optional<std::string> memory_bytes_;  // what the user has set
};

}  // namespace sextant::tools
