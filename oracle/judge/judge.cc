#include "oracle/judge/judge.h"

#include <algorithm>
#include <cmath>

#include "oracle/judge/bias_sample.h"
#include "oracle/judge/likely.h"
#include "oracle/judge/systematic_error.h"
#include "oracle/judge/tensor_judge.h"
#include "oracle/judge/undecided.h"
#include "oracle/judge/verdict_of.h"
#include "oracle/subject/subject.h"
#include "reference/case/extents.h"
#include "reference/number/recipe/in_parallel_here.h"

namespace sextant::oracle {
namespace {

// Marks as judged the elements that could have failed in the trace. Returns `tensors` unchanged if
// an intermediate (an optional output) has an element that could not have failed in either.
std::vector<JudgedTensor> MergeTrace(const Case& c, std::vector<JudgedTensor> tensors,
                                     const std::vector<JudgedTensor>& trace) {
  const std::vector<JudgedTensor> end_to_end = tensors;
  const auto& specs = c.info().signature.outputs;
  for (size_t t = 0; t < trace.size(); ++t) {
    for (size_t i = 0; i < trace[t].elements.size(); ++i) {
      if (trace[t].elements[i] == ElementStatus::kJudged)
        tensors[t].elements[i] = ElementStatus::kJudged;
    }
    const auto spec = std::ranges::find(specs, tensors[t].verdict.name, &TensorSpec::name);
    const auto& elements = tensors[t].elements;
    if (spec->optional && std::ranges::find(elements, ElementStatus::kOpen) != elements.end())
      return end_to_end;
  }
  return tensors;
}

// Codes are those of the scale that the subject answered, an index is right beside the others, and
// what follows an index is its own: their judgement is that of the trace, which says nothing else.
void TakeChoices(const Case& c, std::vector<JudgedTensor>& trace,
                 std::vector<JudgedTensor>& tensors) {
  const auto& specs = c.info().signature.outputs;
  bool follows_choice = false;
  for (size_t t = 0; t < trace.size(); ++t) {
    const auto spec = std::ranges::find(specs, trace[t].verdict.name, &TensorSpec::name);
    follows_choice |= spec->role == Role::kChoice;
    if (follows_choice || spec->role == Role::kCode) tensors[t] = std::move(trace[t]);
  }
  trace.clear();
}

}  // namespace

Verdict JudgeEndToEnd(const Case& c, const std::vector<GoldenTensor>& golden,
                      const std::vector<PermittedTensor>& permitted, const Tensors& outputs) {
  if (const std::string mismatch = DescribeMismatch(c, outputs); !mismatch.empty())
    return MismatchVerdict(c, mismatch);
  const auto tensors = JudgeTensors(c, {golden, permitted}, outputs);
  Verdict verdict = VerdictOf(c, tensors);
  SetUnverified(tensors, verdict);
  return verdict;
}

namespace {

// Stored values with the permitted errors of the recipe. Beyond a budget all their numbers are NaN.
ProvenAndPermitted WithPermitted(std::vector<GoldenTensor> golden, const Case& c,
                                 const Tensors& inputs, const Recipe& recipe,
                                 const ProveOptions& options) {
  ProvenAndPermitted reference{std::move(golden), PermittedErrors({c, inputs, recipe}, options)};
  for (size_t o = 0; o < reference.golden.size(); ++o) {
    GoldenTensor& g = reference.golden[o];
    g.bitwise = c.info().bitwise;
    g.choice = c.operation().ChoiceOf(o);
    g.keeps_nonfinite = c.info().keeps_nonfinite;
    const std::vector<double>& error = reference.permitted[o].error.data;
    for (auto* values : {&g.value, &g.high, &g.low, &g.radius}) {
      for (size_t i = 0; i < error.size(); ++i) {
        if (std::isnan(error[i])) values->data[i] = kNaN;  // only elements that are left out
      }
    }
  }
  return reference;
}

}  // namespace

// The formula, or its alternative decision, with its reference values and permitted errors.
struct Judge::Variant {
  const Operation& operation;
  const ProvenAndPermitted& reference;
};

Judge::Judge(const Case& c, const Tensors& inputs, const Recipe& recipe,
             const ProveOptions& options, Grading grading)
    : c_(c), inputs_(inputs), recipe_(recipe), options_(options), grading_(grading) {
  if (!c.info().HasChoices() || HasBudget()) EncloseEndToEnd();
}

Judge::Judge(const Case& c, const Tensors& inputs, const Recipe& recipe,
             std::vector<GoldenTensor> golden, const ProveOptions& options, Grading grading)
    : Judge(c, inputs, recipe, WithPermitted(std::move(golden), c, inputs, recipe, options),
            options, grading) {}

Judge::Judge(const Case& c, const Tensors& inputs, const Recipe& recipe,
             ProvenAndPermitted reference, const ProveOptions& options, Grading grading)
    : c_(c),
      inputs_(inputs),
      recipe_(recipe),
      options_(options),
      grading_(grading),
      reference_(std::move(reference)) {
  if (grading == Grading::kAll)
    SampleLikely(c, inputs, recipe, reference_->golden, reference_->permitted, options.threads);
}

void Judge::EncloseEndToEnd() const {
  reference_ = Enclose({c_, inputs_, recipe_}, options_);
  if (grading_ == Grading::kAll)
    SampleLikely(c_, inputs_, recipe_, reference_->golden, reference_->permitted, options_.threads);
}

ProvenAndPermitted& Judge::EndToEnd() const {
  const std::lock_guard lock(mutex_);
  if (!reference_) {
    const ScopedBudget none{Budget()};  // of the whole case, whatever part is asked for
    EncloseEndToEnd();
  }
  return *reference_;
}

// Proves the elements whose enclosures do not decide the verdict.
void Judge::Settle(const Tensors& outputs) const {
  ProvenAndPermitted& reference = EndToEnd();
  std::vector<PermittedTensor>& permitted = reference.permitted;
  std::vector<PermittedTensor> before;
  if (IsComposite(c_.info())) before = permitted;
  Undecided undecided(reference, outputs, options_.threads);
  for (;;) {
    const ElementMarks marks = undecided.Next();
    if (marks.empty()) break;
    ProveMarked({c_, inputs_, recipe_}, options_, marks, reference);
  }
  for (size_t o = 0; o < before.size(); ++o) {  // what SampleLikely found is still valid
    std::ranges::transform(permitted[o].likely.data, before[o].likely.data,
                           permitted[o].likely.data.begin(), std::ranges::min);
  }
}

// The reference values that follow from what was answered. Empty if no intermediate was.
Judge::OptionalReference Judge::OfTrace(const Operation& operation, const Tensors& outputs) const {
  const Evaluation evaluation{c_, inputs_, recipe_, operation, &outputs};
  if (outputs.size() < 2 || !CanBeTraced(evaluation)) return {};
  return ProveAndPermit(evaluation, options_);
}

// The verdict of an answer with choices, if it conforms: an output that follows from no answer has
// the same reference values in the trace as end to end, and the others are judged by the trace.
// Where the trace has no number, the end to end reference decides whether it should have one.
std::optional<Verdict> Judge::EvaluateChoices(const ProvenAndPermitted& of_trace,
                                              const Tensors& outputs) const {
  for (const GoldenTensor& golden : of_trace.golden)
    if (std::ranges::any_of(golden.high.data, [](double x) { return std::isnan(x); })) return {};
  const Reference reference{of_trace.golden, of_trace.permitted, nullptr, {},
                            &inputs_,        options_.threads};
  const std::vector<JudgedTensor> tensors = JudgeTensors(c_, reference, outputs);
  Verdict verdict = VerdictOf(c_, tensors);
  if (verdict.status == Verdict::Status::kFails || AreUnlikely(tensors)) return {};
  SetUnverified(tensors, verdict);
  return verdict;
}

Verdict Judge::EvaluateVariant(const Variant& variant, const Tensors& outputs,
                               const OptionalReference& of_trace) const {
  const auto& [golden, permitted] = variant.reference;
  const Reference reference{golden, permitted, nullptr, {}, &inputs_, options_.threads};
  std::vector<JudgedTensor> tensors =
      grading_ == Grading::kPassOrFail
          ? JudgeTensors(c_, reference, outputs)
          : JudgeWithSystematicErrors({variant.operation, c_, inputs_, recipe_, options_},
                                      reference, outputs);
  std::vector<JudgedTensor> trace;
  if (of_trace)
    trace = JudgeTensors(
        c_, {of_trace->golden, of_trace->permitted, &golden, {}, &inputs_, options_.threads},
        outputs);
  if (c_.info().HasChoices() && !trace.empty()) TakeChoices(c_, trace, tensors);
  Verdict verdict = VerdictOf(c_, tensors);
  // Optional outputs are intermediates: they come before the required ones.
  for (const bool optional : {true, false}) {
    for (const TensorSpec& spec : c_.info().signature.outputs) {
      const auto name = [](const JudgedTensor& tensor) { return tensor.verdict.name; };
      const auto at = std::ranges::find(trace, spec.name, name);
      if (spec.optional == optional && at != trace.end()) verdict.trace.push_back(at->verdict);
    }
  }
  if (!SetFirstWrong(verdict)) SetUnverified(MergeTrace(c_, std::move(tensors), trace), verdict);
  return verdict;
}

Verdict Judge::Evaluate(const Tensors& outputs) const {
  if (const std::string mismatch = DescribeMismatch(c_, outputs); !mismatch.empty())
    return MismatchVerdict(c_, mismatch);
  const OptionalReference of_trace = OfTrace(c_.operation(), outputs);
  if (of_trace && !reference_)
    if (std::optional<Verdict> verdict = EvaluateChoices(*of_trace, outputs)) return *verdict;
  Settle(outputs);
  const ScopedThreads inside(options_.threads);  // for the recipe's own answers
  Verdict verdict = EvaluateVariant({c_.operation(), EndToEnd()}, outputs, of_trace);
  if (verdict.status != Verdict::Status::kFails) return verdict;
  for (const auto& other : AlternativesOf(c_, recipe_)) {
    const auto reference = ProveAndPermit({c_, inputs_, recipe_, *other}, options_);
    Verdict alternative = EvaluateVariant({*other, reference}, outputs, OfTrace(*other, outputs));
    if (alternative.status == Verdict::Status::kFails) continue;
    SayAlternative(alternative);
    return alternative;
  }
  return verdict;
}

}  // namespace sextant::oracle
