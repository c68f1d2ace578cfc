// Judges the answers of a subject to many cases.
#pragma once

#include <functional>
#include <vector>

#include "tools/api/judge_subject.h"

namespace sextant::tools {

struct CasesToJudge {
  const std::vector<Selected>& cases;
  const oracle::Subject& subject;
  JudgeSubjectOptions options;
  // True if the subject answers several cases at a time. Then small cases are judged side by side,
  // each on one thread: they have too little work for several.
  bool side_by_side = false;
};

// Calls take(verdict) for each case, in order, until it returns false. Throws what JudgeSubject
// throws, after the verdicts of the earlier cases, and OutOfMemory.
void JudgeCases(const CasesToJudge& all, const std::function<bool(oracle::Verdict)>& take);

}  // namespace sextant::tools
