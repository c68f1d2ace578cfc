// Asks a subject for the answer to one case, and judges it.
#pragma once

#include <string>

#include "oracle/judge/judge.h"
#include "oracle/subject/subject.h"
#include "reference/prove/budget.h"
#include "tools/api/selection.h"
#include "tools/api/time_budget.h"

namespace sextant::tools {

// Rows that no answer could fail, if there is no other reason why a case is unverified.
enum class OpenRows {
  kRefused,
  kFew,  // the case conforms if most of its elements could have failed
  kAccepted
};

struct JudgeSubjectOptions {
  std::string recipe;  // a standard recipe or a recipe line
  ProveOptions prove;
  OpenRows open_rows = OpenRows::kRefused;
  bool verify = false;         // stored values are proven again, and not believed
  Budget budget{};             // elements beyond it are left out; without `has_time`
  double memory = 0;           // MiB that judging a failing answer may take; 0: about 2500
  TimeBudget* time = nullptr;  // null: no limit. The first and last slices are always proven
};

// A case that the subject declines, cannot run, or answers with wrong names, shapes or dtypes has a
// status and a message, and is not judged. Throws Error for a wrong recipe.
oracle::Verdict JudgeSubject(const Selected& selected, const oracle::Subject& subject,
                             const JudgeSubjectOptions& options);

// The same of an answer that it gave to these inputs.
oracle::Verdict JudgeAnswer(const Selected& selected, const oracle::Subject& subject,
                            const Tensors& inputs, const oracle::Answer& answer,
                            const JudgeSubjectOptions& options);

}  // namespace sextant::tools
