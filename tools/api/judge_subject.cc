#include "tools/api/judge_subject.h"

#include <algorithm>

#include "oracle/diagnosis/repeated_question.h"
#include "oracle/judge/sliced_judge.h"
#include "oracle/judge/stored_values.h"
#include "reference/case/out_of_memory.h"
#include "reference/number/recipe/in_parallel_here.h"
#include "tools/api/answer_of.h"
#include "tools/api/judgement.h"
#include "tools/api/part_as_case.h"

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

// Elements of all tensors of a case that is still judged as a whole if its answer fails or is
// unlikely: about 2.5 GiB of memory.
oracle::Failing HowToFail(const Case& c, const JudgeSubjectOptions& options) {
  constexpr double kMostWhole = 0x1p26, kBytes = 40;
  const double most =
      options.memory > 0 ? std::min(kMostWhole, options.memory * 0x1p20 / kBytes) : kMostWhole;
  return static_cast<double>(ElementsOf(c)) > most ? oracle::Failing::kJudge
                                                   : oracle::Failing::kGiveUp;
}

// What slices say of an answer: no verdict if it needs reference values of the whole case.
struct BySlices {
  bool tried = false;
  std::optional<Verdict> verdict{};
};

// The causes of a large failing answer are those of a part of it, around its worst element. An
// answer is not unlikely if that part is not.
void ExplainByPart(const Case& c, const TensorReaders& inputs, const TensorReaders& outputs,
                   const JudgeSubjectOptions& options, Verdict& verdict) {
  if (verdict.grade != oracle::Grade::kFails && verdict.grade != oracle::Grade::kUnlikely) return;
  const auto worst =
      std::ranges::find(verdict.tensors, *verdict.grade, &oracle::TensorVerdict::grade);
  if (worst == verdict.tensors.end()) return;  // only its trace fails
  const TensorSpec& output = *FindTensor(c.info().signature, worst->name);
  const auto part = PartAround(c, inputs, outputs, output, worst->worst.index);
  if (!part) return;
  const Recipe recipe = ParseRecipe(options.recipe, c.dtype());
  const ScopedBudget all{Budget()};
  const oracle::Judge judge(part->c, part->inputs, recipe, options.prove);
  Verdict own = JudgeOutputs(judge, part->c, part->inputs, recipe, part->outputs,
                             {options.prove.threads, {}, options.prove.engine});
  if (verdict.grade == oracle::Grade::kUnlikely && own.grade &&
      *own.grade < oracle::Grade::kUnlikely) {
    worst->grade = oracle::Grade::kWithin;
    verdict.grade = oracle::Grade::kExact;
    for (const oracle::TensorVerdict& tensor : verdict.tensors)
      verdict.grade = std::max(*verdict.grade, tensor.grade);
    return;
  }
  verdict.causes = std::move(own.causes);
  verdict.other_recipes = std::move(own.other_recipes);
  if (verdict.causes.empty() && verdict.other_recipes.texts.empty()) return;
  verdict.message += (verdict.message.empty() ? "" : "; ") +
                     ("causes and recipes are those of the slice " + TextOf(part->part));
}

// The verdict by slices, if they give one.
std::optional<Verdict> JudgeReaders(const Selected& selected, const TensorReaders& inputs,
                                    const TensorReaders& outputs,
                                    const JudgeSubjectOptions& options) {
  const Case& c = selected.c;
  const oracle::Failing failing = HowToFail(c, options);
  auto verdict = oracle::JudgeInSlices(c, inputs, ParseRecipe(options.recipe, c.dtype()),
                                       options.prove, outputs, failing, selected.golden.get());
  if (verdict && failing == oracle::Failing::kJudge)
    ExplainByPart(c, inputs, outputs, options, *verdict);
  return verdict;
}

BySlices JudgeInTime(const Selected& selected, const TensorReaders& inputs,
                     const TensorReaders& outputs, const JudgeSubjectOptions& options) {
  if (options.time) options.time->Begin();
  const ScopedBudget within(BudgetOf(options));
  BySlices by{true, JudgeReaders(selected, inputs, outputs, options)};
  if (options.time) options.time->Pause();
  return by;
}

// Of an answer that a file has, or of one to stored inputs: both need less memory.
BySlices JudgeStored(const Selected& selected, const oracle::Subject& subject,
                     const JudgeSubjectOptions& options) {
  const Case& c = selected.c;
  if (!oracle::CanJudgeInSlices(c, options.prove)) return {};
  if (subject.answer_in_file) {
    const DrawnInputs inputs(c, NpyReader());
    try {
      const auto sources = subject.answer_in_file(c, inputs.readers());
      if (!sources) return {};
      TensorReaders outputs;
      for (const auto& source : *sources) outputs.emplace_back(*source);
      return JudgeInTime(selected, inputs.readers(), outputs, options);
    } catch (const oracle::InvalidAnswer& e) {
      return {true, NotJudged(c, Verdict::Status::kCouldNotRun, e.what())};
    }
  }
  if (!subject.answer_stored) return {};
  const StoredTensors inputs = DrawStored(c, NpyReader());
  const auto outputs = [&] {
    const ScopedThreads of_subject(options.prove.threads);
    return subject.answer_stored(c, inputs);
  }();
  if (!outputs) return {};
  return JudgeInTime(selected, ReadersOf(inputs), ReadersOf(*outputs), options);
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
  oracle::Subject asked = subject;
  if (oracle::CanJudgeInSlices(c, options.prove) && oracle::DescribeMismatch(c, outputs).empty()) {
    if (!before.tried) {
      if (auto verdict = JudgeReaders(selected, ReadersOf(inputs), ReadersOf(outputs), options))
        return *std::move(verdict);
    }
    asked = oracle::AskedAhead(subject, c, inputs);  // it computes while its answer is judged
  }
  const bool believes = selected.golden && !options.verify;
  const oracle::Judge judge =
      believes ? oracle::Judge(c, inputs, recipe, ReadAll(*selected.golden, c), options.prove)
               : oracle::Judge(c, inputs, recipe, options.prove);
  if (selected.golden && !believes) oracle::RequireStored(c, {}, *selected.golden, judge.golden());
  const std::optional<Sample> sample = SampleIn(c);
  const ScopedBudget reached(sample ? CurrentBudget() : Budget());
  Verdict verdict = JudgeOutputs(judge, c, inputs, recipe, outputs, after, &asked);
  verdict.sample = sample;
  return verdict;
}

// `before`: what slices have said.
Verdict JudgeAnswerAfter(const BySlices& before, const Selected& selected,
                         const oracle::Subject& subject, const Tensors& inputs,
                         const Answer& answer, const JudgeSubjectOptions& options) {
  if (answer.status != Answer::Status::kAnswered && options.time) options.time->End();
  if (answer.status == Answer::Status::kUnsupported)
    return NotJudged(selected.c, Verdict::Status::kUnsupported, answer.message);
  if (answer.status == Answer::Status::kFailed)
    return NotJudged(selected.c, Verdict::Status::kCouldNotRun, answer.message);
  if (options.time) options.time->Begin();
  Verdict verdict = JudgeInBudget(selected, subject, inputs, answer.outputs, options, before);
  if (options.time) options.time->End();
  AcceptOpenRows(options.open_rows, verdict);
  return verdict;
}

}  // namespace

Verdict JudgeAnswer(const Selected& selected, const oracle::Subject& subject, const Tensors& inputs,
                    const Answer& answer, const JudgeSubjectOptions& options) {
  return JudgeAnswerAfter({}, selected, subject, inputs, answer, options);
}

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
  return JudgeAnswerAfter(before, selected, subject, inputs, answer, options);
}

}  // namespace sextant::tools
