#include "tools/api/judge_subject.h"

#include "reference/base/printable.h"
#include "tools/api/judgement.h"
#include "tools/api/subjects.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Verdict;

Verdict NotJudged(const Case& c, Verdict::Status status, const std::string& why) {
  const bool is_long = why.size() > kMostBytesOfMessage;
  // A cut may divide a character of UTF-8.
  const std::string end = is_long ? "... (" + std::to_string(why.size()) + " bytes)" : "";
  return {.case_line = c.ToString(),
          .status = status,
          .message = is_long ? Printable(why.substr(0, kMostBytesOfMessage)) + end : why,
          .tensors = {},
          .trace = {},
          .causes = {}};
}

void AcceptOpenRows(Verdict& verdict) {
  if (verdict.status != Verdict::Status::kUnverified || !verdict.open_rows_acceptable) return;
  verdict.status = Verdict::Status::kConforms;
  verdict.message.clear();
}

}  // namespace

Verdict JudgeSubject(const Selected& selected, const oracle::Subject& subject,
                     const JudgeSubjectOptions& options) {
  const Case& c = selected.c;
  if (const std::string why = WhyIrrelevant(subject, c); !why.empty())
    return NotJudged(c, Verdict::Status::kUnsupported, why);
  const Recipe recipe = ParseRecipe(options.recipe, c.dtype());
  const bool stored = selected.record && !selected.record->golden.empty();
  const Tensors inputs = stored ? selected.record->inputs : DrawInputs(c, NpyReader());
  const Answer answer = subject.answer(c, inputs);
  if (answer.status == Answer::Status::kUnsupported)
    return NotJudged(c, Verdict::Status::kUnsupported, answer.message);
  const std::string why = answer.status == Answer::Status::kFailed
                              ? answer.message
                              : oracle::DescribeMismatch(c, answer.outputs);
  if (answer.status == Answer::Status::kFailed || !why.empty())
    return NotJudged(c, Verdict::Status::kCouldNotRun, why);
  const ProveOptions prove{.threads = options.threads};
  auto golden = stored ? selected.record->golden : Prove(c, inputs, recipe, prove);
  const oracle::Judge judge(c, inputs, recipe, std::move(golden), prove);
  Verdict verdict = JudgeOutputs(judge, c, inputs, recipe, answer.outputs);
  if (options.open_rows) AcceptOpenRows(verdict);
  return verdict;
}

}  // namespace sextant::tools
