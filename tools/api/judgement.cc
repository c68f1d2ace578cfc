#include "tools/api/judgement.h"

#include <algorithm>
#include <array>
#include <utility>

#include "oracle/catalog/beside_precision.h"
#include "oracle/catalog/candidates.h"
#include "oracle/catalog/catalog.h"
#include "oracle/catalog/causes.h"
#include "oracle/diagnosis/evidence.h"
#include "tools/api/conforming_recipes.h"
#include "tools/api/other_layout.h"
#include "tools/api/unshown_attributes.h"

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
  const oracle::Observation seen{c,       inputs,   recipe, judge.golden(), judge.permitted(),
                                 outputs, {subject}};
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

// "operands_in_tf32", "sum_in_bf16"
bool IsPrecision(const std::string& cause) {
  return std::ranges::any_of(
      std::array{"_in_bf16", "_in_f16", "_in_tf32", "_in_f32", "_in_f8"},
      [&](const char* format) { return cause.find(format) != std::string::npos; });
}

// True if the first cause is a bug that was measured or is known, and not only another precision.
bool NamesABug(const Verdict& verdict, const Case& c, const Tensors& inputs, const Recipe& recipe) {
  if (verdict.causes.empty() || IsPrecision(verdict.causes[0].name)) return false;
  if (verdict.causes[0].is_measured) return true;
  const std::vector<oracle::Defect>& defects = oracle::CatalogEntryOf(c.name()).defects;
  const auto at = std::ranges::find(defects, verdict.causes[0].name, &oracle::Defect::name);
  return at != defects.end() && oracle::ButAPrecision(*at, c, inputs, recipe);
}

// Names elements by the axes of the given tensors, and gives the errors their leading axes.
void UseGivenAxes(Judgement& judgement) {
  const Question& question = judgement.question;
  for (auto* tensors : {&judgement.verdict.tensors, &judgement.verdict.trace}) {
    for (oracle::TensorVerdict& tensor : *tensors) {
      const auto at = std::ranges::find(question.outputs, tensor.name, &NamedTensor::name);
      if (at == question.outputs.end() || tensor.worst.where.empty()) continue;
      const auto& axes = question.output_axes[static_cast<size_t>(at - question.outputs.begin())];
      tensor.worst.where = axes.PlaceOf(tensor.name, tensor.worst.index);
    }
  }
  for (ElementErrors& errors : judgement.errors) {
    const Shape shape = question.OwnShape(*FindTensor(question.c.info().signature, errors.name));
    errors.error.shape = errors.permitted.shape = shape;
  }
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
    const bool is_wide = width > kMostRecipeWidth && NamesABug(verdict, c, inputs, recipe);
    if (is_wide || (!verdict.causes.empty() && have_other_errors)) verdict.other_recipes = {};
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
  const Case& c = judgement.question.c;
  const Tensors &inputs = judgement.question.inputs, &outputs = judgement.question.outputs;
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
  if (judgement.verdict.status == Verdict::Status::kFails && options.budget.elements == 0)
    judgement.layout = LayoutByWhichItConforms(judgement.question, recipe);
  if (!judgement.layout.empty())
    judgement.verdict.causes = {}, judgement.verdict.other_recipes = {};
  judgement.verdict.case_line = judgement.question.Text();
  const auto is_empty = [](const oracle::TensorVerdict& t) { return t.elements == 0; };
  if (std::ranges::all_of(judgement.verdict.tensors, is_empty))
    judgement.verdict.message = "no output has an element, so nothing was compared";
  judgement.errors = ErrorsOf(judge, outputs);
  judgement.unshown = UnshownAttributes(judge, judgement);
  UseGivenAxes(judgement);
  return judgement;
}

}  // namespace sextant::tools
