#include "tools/api/judgement.h"

#include <algorithm>
#include <utility>

#include "oracle/catalog/beside_precision.h"
#include "oracle/catalog/causes.h"
#include "oracle/diagnosis/evidence.h"
#include "tools/api/conforming_recipes.h"

namespace sextant::tools {

using oracle::Verdict;

namespace {

// The search for causes takes many times as long as the judgement. If the time is limited, it
// begins with so many elements of the part that was judged.
constexpr size_t kElementsForCauses = size_t{1} << 16;

std::vector<oracle::Cause> Causes(const oracle::Judge& judge, const Case& c, const Tensors& inputs,
                                  const Recipe& recipe, const Tensors& outputs,
                                  const ProveOptions& options, const oracle::Subject* subject,
                                  const Verdict& verdict) {
  const oracle::Observation seen{c,       inputs, recipe, judge.golden(), judge.permitted(),
                                 outputs, subject};
  oracle::ConformingRecipes conforming{.have_other_errors =
                                           verdict.other_recipes.have_other_errors};
  for (const std::string& line : verdict.other_recipes.texts)
    conforming.recipes.push_back(ParseRecipe(line, c.dtype()));
  if (CurrentBudget().has_time) {
    Budget beginning = CurrentBudget();
    beginning.elements = kElementsForCauses;
    const ScopedBudget within(beginning);
    auto causes = oracle::CausesOf(seen, options, conforming);
    if (!causes.empty()) return causes;
  }
  return oracle::CausesOf(seen, options, conforming);
}

}  // namespace

Verdict JudgeOutputs(const oracle::Judge& judge, const Case& c, const Tensors& inputs,
                     const Recipe& recipe, const Tensors& outputs, const ProveOptions& options,
                     const oracle::Subject* subject) {
  Verdict verdict = judge.Evaluate(outputs);
  if (verdict.tensors.empty()) return verdict;
  const bool fails = verdict.status == Verdict::Status::kFails;
  const auto find_recipes = [&](int most_changes) {
    FindConformingRecipes(
        {c, inputs, outputs, judge, verdict},
        {.start = recipe.name, .most_changes = most_changes, .prove = options, .in_part = true},
        verdict);
  };
  // An honest precision comes before a bug that explains it by accident, and a bug before a
  // precision in two steps, one that only permits its errors, or a bug beside a precision.
  try {
    if (fails) find_recipes(1);
    if (fails || verdict.grade == oracle::Grade::kUnlikely) {
      verdict.causes = Causes(judge, c, inputs, recipe, outputs, options, subject, verdict);
    }
    const auto& [texts, width, have_other_errors, sample] = verdict.other_recipes;
    // A recipe that only permits the errors is enough of a large case, where each judgement counts.
    const bool has_recipe = !texts.empty() && (!have_other_errors || oracle::IsLarge(c));
    if (fails && verdict.causes.empty() && !has_recipe) find_recipes(2);
    if (fails && verdict.causes.empty() && texts.empty()) {
      verdict.causes = oracle::CausesBesideAPrecision(
          {c, inputs, recipe, judge.golden(), judge.permitted(), outputs}, options);
    }
    if (!verdict.causes.empty() && have_other_errors) verdict.other_recipes = {};
  } catch (const OutOfTime&) {
    verdict.message += verdict.message.empty() ? "" : "; ";
    verdict.message += "no time was left to look for all causes and recipes";
  }
  return verdict;
}

Judgement JudgeQuestion(Question question, const JudgeOptions& options) {
  Judgement judgement{.question = std::move(question),
                      .recipe = options.recipe,
                      .strict = options.strict,
                      .budget = options.budget,
                      .verdict = {}};
  const auto& [c, inputs, outputs, defaults] = judgement.question;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const bool given = std::ranges::count(outputs, spec.name, &NamedTensor::name) > 0;
    if (given || spec.optional) continue;
    throw Error(c.name(), " needs the output ", spec.name, "; its signature is ",
                c.info().signature_text);
  }
  const Recipe recipe = ParseRecipe(options.recipe, c.dtype());
  const ScopedBudget within(options.budget);
  ProveOptions silent = options.prove;  // after the proof, progress only serves to cancel
  if (silent.progress) silent.progress = [&](double) { options.prove.progress(1); };
  const oracle::Judge judge(c, inputs, recipe, Enclose({c, inputs, recipe}, options.prove), silent);
  judgement.verdict = JudgeOutputs(judge, c, inputs, recipe, outputs, silent);
  judgement.verdict.case_line = judgement.question.Text();
  judgement.errors = ErrorsOf(judge, outputs);
  return judgement;
}

}  // namespace sextant::tools
