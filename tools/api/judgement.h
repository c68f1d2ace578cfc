// Verdicts, for every door: on the answer of a subject, and on a user's own tensors.
#pragma once

#include <string>
#include <vector>

#include "oracle/judge/judge.h"
#include "oracle/subject/subject.h"
#include "reference/case/question.h"
#include "reference/prove/budget.h"
#include "reference/prove/golden.h"
#include "reference/prove/prove.h"
#include "tools/api/element_errors.h"

namespace sextant::tools {

// Thrown by ProveOptions::progress: there is no time to look for reasons.
struct OutOfTime {};

// The verdict on `outputs`, which fit the case; of a failure also the likely causes, and other
// recipes by which the answer conforms. `options` are those of the search for reasons. If their
// progress throws OutOfTime, the verdict has the reasons found so far, and its message says it.
// `subject` may be asked more questions about a failure; null: it cannot be asked.
oracle::Verdict JudgeOutputs(const oracle::Judge& judge, const Case& c, const Tensors& inputs,
                             const Recipe& recipe, const Tensors& outputs,
                             const ProveOptions& options = {},
                             const oracle::Subject* subject = nullptr);

struct Judgement {
  Question question;
  std::string recipe;
  bool strict = false;  // the grade `unlikely` fails
  Budget budget{};      // elements beyond it are left out
  oracle::Verdict verdict;
  std::vector<ElementErrors> errors{};
  std::vector<std::string> unshown{};  // of a conforming verdict (tools/api/unshown_attributes.h)
  std::string layout{};  // of a failing one, by which it conforms (tools/api/other_layout.h)
  std::string kept{};    // the file with the tensors of a failing answer; empty: not kept
  std::string repeat{};  // the command that judges a failing answer again, or how to get it
};

struct JudgeOptions {
  std::string recipe = "native";
  bool strict = false;
  Budget budget{};  // the causes of a failure are looked for in the same part
  ProveOptions prove{};
};

// Throws Error if the recipe is wrong or if a required output is missing.
Judgement JudgeQuestion(Question question, const JudgeOptions& options);

}  // namespace sextant::tools
