#include "tools/api/judge_subject.h"

#include "oracle/diagnosis/repeated_question.h"
#include "oracle/judge/sliced_judge.h"
#include "reference/number/recipe/in_parallel_here.h"
#include "tools/api/answer_of.h"
#include "tools/api/judgement.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Verdict;

Verdict NotJudged(const Case& c, Verdict::Status status, const std::string& why) {
  return {.case_line = c.ToString(),
          .status = status,
          .message = why,
          .tensors = {},
          .trace = {},
          .causes = {}};
}

bool AreFew(const Verdict& verdict) {
  size_t judged = 0, open = 0;
  for (const oracle::TensorVerdict& t : verdict.tensors) {
    judged += t.judged;
    open += t.elements - t.judged - t.unspecified - t.left_out;
  }
  return judged >= open;
}

void AcceptOpenRows(OpenRows accepted, Verdict& verdict) {
  if (verdict.status != Verdict::Status::kUnverified || !verdict.open_rows_acceptable) return;
  if (accepted == OpenRows::kRefused || (accepted == OpenRows::kFew && !AreFew(verdict))) return;
  verdict.status = Verdict::Status::kConforms;
  verdict.message.clear();
}

// The budget of the options, which limits the proof of the case that has begun.
Budget BudgetOf(const JudgeSubjectOptions& options) {
  Budget budget = options.budget;
  if (const TimeBudget* const time = options.time)
    budget.has_time = [time] { return time->HasTimeForProof(); };
  return budget;
}

// What slices say of an answer: no verdict if it needs reference values of the whole case.
struct BySlices {
  bool tried = false;
  std::optional<Verdict> verdict{};
};

// Of the answer to stored inputs, which needs less memory, if the subject has one.
BySlices JudgeStored(const Selected& selected, const oracle::Subject& subject,
                     const JudgeSubjectOptions& options) {
  const Case& c = selected.c;
  if (!subject.answer_stored || selected.record || !oracle::CanJudgeInSlices(c, options.prove))
    return {};
  const StoredTensors inputs = DrawStored(c, NpyReader());
  const auto outputs = [&] {
    const ScopedThreads of_subject(options.prove.threads);
    return subject.answer_stored(c, inputs);
  }();
  if (!outputs) return {};
  if (options.time) options.time->Begin();
  const ScopedBudget within(BudgetOf(options));
  auto verdict = oracle::JudgeInSlices(c, ReadersOf(inputs), ParseRecipe(options.recipe, c.dtype()),
                                       options.prove, ReadersOf(*outputs));
  if (options.time) options.time->Pause();
  return {true, std::move(verdict)};
}

Verdict JudgeInBudget(const Selected& selected, const oracle::Subject& subject,
                      const Tensors& inputs, const Tensors& outputs,
                      const JudgeSubjectOptions& options, const BySlices& before) {
  const Case& c = selected.c;
  const Recipe recipe = ParseRecipe(options.recipe, c.dtype());
  ProveOptions after = options.prove;  // what follows the proof, which the budget limits
  if (const TimeBudget* const time = options.time) {
    after.progress = [time](double) {
      if (!time->HasTime()) throw OutOfTime();
    };
  }
  const ScopedBudget within(BudgetOf(options));
  const bool stored = selected.record && !selected.record->golden.empty();
  oracle::Subject asked = subject;
  if (!stored && oracle::CanJudgeInSlices(c, options.prove) &&
      oracle::DescribeMismatch(c, outputs).empty()) {
    if (!before.tried) {
      if (auto verdict = oracle::JudgeInSlices(c, ReadersOf(inputs), recipe, options.prove,
                                               ReadersOf(outputs)))
        return *std::move(verdict);
    }
    asked = oracle::AskedAhead(subject, c, inputs);  // it computes while its answer is judged
  }
  const oracle::Judge judge =
      stored ? oracle::Judge(c, inputs, recipe, selected.record->golden, options.prove)
             : oracle::Judge(c, inputs, recipe, options.prove);
  const std::optional<Sample> sample = SampleIn(c);
  const ScopedBudget reached(sample ? CurrentBudget() : Budget());
  Verdict verdict = JudgeOutputs(judge, c, inputs, recipe, outputs, after, &asked);
  verdict.sample = sample;
  return verdict;
}

}  // namespace

Verdict JudgeSubject(const Selected& selected, const oracle::Subject& subject,
                     const JudgeSubjectOptions& options) {
  const Case& c = selected.c;
  ParseRecipe(options.recipe, c.dtype());
  BySlices before = JudgeStored(selected, subject, options);
  if (before.verdict) {
    if (options.time) options.time->End();
    AcceptOpenRows(options.open_rows, *before.verdict);
    return *std::move(before.verdict);
  }
  const Tensors inputs = InputsOf(selected);
  const Answer answer = [&] {
    const ScopedThreads of_subject(options.prove.threads);
    return AnswerOf(subject, c, inputs);
  }();
  if (answer.status != Answer::Status::kAnswered && options.time) options.time->End();
  if (answer.status == Answer::Status::kUnsupported)
    return NotJudged(c, Verdict::Status::kUnsupported, answer.message);
  if (answer.status == Answer::Status::kFailed)
    return NotJudged(c, Verdict::Status::kCouldNotRun, answer.message);
  if (options.time) options.time->Begin();
  Verdict verdict = JudgeInBudget(selected, subject, inputs, answer.outputs, options, before);
  if (options.time) options.time->End();
  AcceptOpenRows(options.open_rows, verdict);
  return verdict;
}

}  // namespace sextant::tools
