#include "oracle/catalog/causes.h"

#include <algorithm>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>

#include "oracle/block/measured/stage_question.h"
#include "oracle/catalog/catalog.h"
#include "oracle/catalog/first_causes.h"
#include "oracle/catalog/layers.h"
#include "oracle/catalog/named_causes.h"
#include "oracle/catalog/pairs.h"
#include "oracle/catalog/smaller_case.h"
#include "oracle/catalog/wrong_rows.h"
#include "oracle/diagnosis/answer/added_input.h"
#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/answer/failing_block.h"
#include "oracle/diagnosis/answer/scaled_numbers.h"
#include "oracle/diagnosis/answer/scattered_elements.h"
#include "oracle/diagnosis/answer/structure.h"
#include "oracle/diagnosis/answer/undone.h"
#include "oracle/diagnosis/answer/wrong_range.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/fitted_number.h"
#include "oracle/diagnosis/input/input_changes.h"
#include "oracle/diagnosis/repeated_question.h"
#include "oracle/diagnosis/work.h"
#include "oracle/diagnosis/wrong_stage.h"
#include "reference/case/draw.h"
#include "reference/case/intermediate.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

std::vector<Cause> CausesFrom(const std::vector<StructuralFinding>& findings) {
  std::vector<Cause> causes;
  for (const StructuralFinding& finding : findings)
    causes.push_back({finding.name, finding.sentence, true});
  return causes;
}

// The structure of the answer, and the causes of what it does not explain. If these are not known,
// the structure may follow from the same unknown cause: rows without a key are 0. `of_all`: the
// evidence of the answer; null: the structure alone, if it explains everything.
std::vector<Cause> StructuralCauses(AnsweredTensors& tensors, size_t failing,
                                    const ProveOptions& options, Evidence* of_all) {
  const Observation& seen = tensors.seen();
  const std::vector<StructuralFinding> findings = StructureOf(tensors);
  std::vector<Cause> causes = CausesFrom(findings);
  size_t explained = 0;
  for (const StructuralFinding& finding : findings) explained += finding.count;
  if (findings.empty() || explained == failing) return causes;
  if (!of_all) return {};
  const auto permitted = WithoutExplained(seen.permitted, findings);
  const Observation rest = WithPermitted(seen, permitted, seen.how);
  auto [others, explain_all] = NamedCausesOfPart(rest, *of_all, options);
  if (explain_all) return others;  // the structure follows from them: a row without keys is 0
  if (others.empty()) {
    AnsweredTensors of_rest(rest);
    others = StructuralCauses(of_rest, failing - explained, options, nullptr);
  }
  if (others.empty()) return {};
  for (Cause& cause : others) {
    cause.why += "; elsewhere";
    cause.is_beside = true;
    causes.push_back(std::move(cause));
  }
  return causes;
}

// The causes of a tensor that is wrong although the subject's own earlier ones are right for it.
// Bounds in 16 bits are wide: there a listed defect counts only if no measured model is nearer.
std::vector<Cause> CausesOfStage(const Observation& seen, const ProveOptions& options) {
  const ScopedTrace from_its_own(seen.answer);
  ProveOptions here = options;
  here.threads = 1;  // the trace is one of this thread
  Evidence evidence(seen, here);
  MeasuredFits measured;
  const bool has_narrow_bounds = UnitRoundoffOf(seen.c.dtype()) < UnitRoundoffOf(DType::kF16);
  if (!has_narrow_bounds) measured = MeasuredCauses(seen, evidence);
  std::vector<Cause> causes = ListedCauses(seen, evidence, measured.nearest);
  if (causes.empty())
    causes = has_narrow_bounds ? MeasuredCauses(seen, evidence).causes : measured.causes;
  if (!causes.empty()) return causes;
  AnsweredTensors tensors(seen);
  return StructuralCauses(tensors, evidence.failing(), here, &evidence);
}

// Inputs that are missing, or read in another order.
std::vector<Cause> CausesOfInputs(const Observation& seen, Evidence& evidence) {
  std::vector<Cause> causes;
  for (const auto& [name, sentence, model] : MeasureInputs(seen))
    if (std::ranges::find(causes, sentence, &Cause::why) == causes.end() &&
        evidence.FitOf(model).explains)
      causes.push_back({name, sentence, true});
  return causes;
}

enum class Rare { kTried, kNotTried };  // changed inputs, pairs, parts of the answer
std::vector<Cause> CausesOfOneAnswer(const Observation& seen, const ProveOptions& options,
                                     const ConformingRecipes& conforming, Rare rare = Rare::kTried);

// The causes of the first wrong tensor of a composite operation, none if they are not known; what
// is wrong later does not count. Empty if there is no such tensor. In a large case, only the
// operation that computes the tensor is asked: each hypothesis about the whole costs as much as the
// whole.
std::optional<std::vector<Cause>> CausesInTrace(const Observation& seen,
                                                const ProveOptions& options, bool is_large) {
  const auto stage = FirstWrongStage(seen, options);
  if (!stage) return std::nullopt;
  std::vector<Cause> causes;
  if (!is_large) {
    causes = CausesOfStage(
        {seen.c, seen.inputs, seen.recipe, stage->golden, stage->permitted, seen.answer}, options);
  }
  const auto question = causes.empty() ? StageQuestionOf(seen, stage->output) : std::nullopt;
  if (question) {
    const auto [golden, permitted] = Enclose({question->c, question->inputs, seen.recipe}, options);
    causes = CausesOfOneAnswer({question->c, question->inputs, seen.recipe, golden, permitted,
                                question->outputs, seen.how.WithoutQuestions()},
                               options, {}, is_large ? Rare::kNotTried : Rare::kTried);
  }
  for (Cause& cause : causes) cause.why = "first wrong at " + stage->output + ": " + cause.why;
  return causes;
}

// A wrong order of the numbers beside another deviation: hardly any number is right then.
std::vector<Cause> CausesBesideAnOrder(const Observation& seen, const ProveOptions& options) {
  const std::vector<Undone> orders = UndoneOrdersOf(seen);
  const size_t most = std::min(orders.size(), MostMeasurements(seen.c));
  return FirstCauses(most, options, [&](size_t i, const ProveOptions& here) {
    const auto& [sentence, answer, permitted] = orders[i];
    size_t no_evaluations = 0;  // of pairs: a wrong order is the second deviation
    const Searching how{.evaluations_left = &no_evaluations, .is_second = true};
    std::vector<Cause> causes =
        NamedCauses({seen.c, seen.inputs, seen.recipe, seen.golden, permitted, answer, how}, here);
    if (causes.empty()) return causes;
    for (Cause& cause : causes) {
      cause.why += "; together with moved";
      cause.is_beside = true;
    }
    causes.insert(causes.begin(), {"moved", sentence + "; together with " + causes[0].name, true});
    return causes;
  });
}

// Another formula in a part of the answer: in one head, in the last columns.
std::vector<Cause> CausesInBlock(const Observation& seen, const ProveOptions& options) {
  const auto block = FailingBlockOf(seen);
  if (!block) return {};
  std::vector<Cause> causes =
      NamedCauses(WithPermitted(seen, block->permitted, seen.how.WithoutQuestions()), options);
  for (Cause& cause : causes) {
    cause.why += "; only at " + block->text;
    cause.is_beside = true;
  }
  return causes;
}

bool HasLargeErrors(AnsweredTensors& tensors) {
  for (size_t o = 0; o < tensors.size(); ++o) {
    const AnsweredTensor* const tensor = tensors.Of(o);
    if (tensor && HasLargeErrors(*tensor)) return true;
  }
  return false;
}

// A row of the table: whether it is tried, and what it finds.
using Finder = std::pair<bool, std::function<std::vector<Cause>()>>;
// The causes of the first row that finds some.
std::vector<Cause> FirstFound(std::initializer_list<Finder> finders) {
  for (const auto& [is_tried, find] : finders) {
    std::vector<Cause> causes = is_tried ? find() : std::vector<Cause>();
    if (!causes.empty()) return causes;
  }
  return {};
}

// The finders of one answer, and what decides which of them are tried.
struct Finders {
  const Observation& seen;
  const ProveOptions& options;
  const std::vector<Recipe>& recipes;  // by which it conforms
  Evidence evidence{seen, options};
  AnsweredTensors tensors{seen, options.threads};
  const size_t defects = CatalogEntryOf(seen.c.name()).defects.size(), failing = evidence.failing();
  const bool is_large = evidence.elements() > Evidence::kAlways;
  const bool is_bug = recipes.empty();  // else it may be a precision, which needs no description
  std::vector<Cause> described = {};    // by measurements without a model

  // Errors that a recipe permits are small: one of many choices says few of them by accident.
  bool IsAccident(size_t choices) const { return !is_bug && !IsEvidence(failing, choices); }

  std::vector<Cause> Usual() {
    const auto single = [&] { return CausesFrom(SingleElementsIn(tensors, failing)); };
    const auto structure = [&](Evidence* of_all) {
      return StructuralCauses(tensors, failing, options, of_all);
    };
    return FirstFound({
        // Few outliers are told without a formula; in a large case each defect costs much to try.
        {is_large && failing <= kMostFew, single},
        {!IsAccident(defects), [&] { return ListedCauses(seen, evidence, kInfinity, recipes); }},
        {true, [&] { return CausesFrom(NotComputedIn(tensors)); }},
        {true, single},
        // Of a large case, most of whose elements are right, it costs less than measurements.
        {is_large && 2 * failing < evidence.elements(), [&] { return structure(nullptr); }},
        {true,
         [&] {
           auto [causes, nearest, others] = MeasuredCauses(seen, evidence);
           described = std::move(others);
           return causes;
         }},
        {true, [&] { return structure(&evidence); }},
    });
  }

  // What `find` names in every wrong tensor of the answer; none if it has no name for one.
  template <class Find>
  std::vector<Cause> InEach(const Find& find) {
    std::vector<Cause> causes;
    for (size_t o = 0; o < tensors.size(); ++o) {
      const AnsweredTensor* const tensor = tensors.Of(o);
      if (!tensor || tensor->failing.empty()) continue;
      const auto found = find(*tensor, seen.inputs);
      if (!found) return {};
      causes.push_back({found->name, found->sentence, true});
    }
    return causes;
  }

  std::vector<Cause> Others(Rare rare) {
    const bool is_rare = !is_large && IsForRareCauses(seen.c) && rare == Rare::kTried;
    const bool may_be_pair = is_rare && !IsAccident(defects * defects);
    const bool is_far = is_rare && HasLargeErrors(tensors);
    const bool mostly_fails = 2 * failing > evidence.elements();
    return FirstFound({
        {is_bug, [&] { return InEach(FindAddedInput); }},
        {may_be_pair, [&] { return CausesOfTwoEdits(seen, evidence); }},
        {is_rare, [&] { return CausesOfInputs(seen, evidence); }},
        {may_be_pair, [&] { return PairCauses(seen, evidence, options); }},
        {is_far && mostly_fails, [&] { return CausesBesideAnOrder(seen, options); }},
        {is_far && may_be_pair, [&] { return LayeredCauses(seen, evidence, options); }},
        {is_far, [&] { return CausesInBlock(seen, options); }},
        {is_far, [&] { return CausesOfRows(seen, evidence, options); }},
        {is_bug && described.empty(), [&] { return InEach(FindWrongRange); }},
        // Nothing says why the numbers are a factor, or a summand, away from the right ones.
        {is_bug, [&] { return InEach([](auto& y, auto&) { return FindScaled(y); }); }},
        {is_bug, [&] { return described; }},
    });
  }
};

std::vector<Cause> CausesOfOneAnswer(const Observation& seen, const ProveOptions& options,
                                     const ConformingRecipes& conforming, Rare rare) {
  const auto& [recipes, have_other_errors] = conforming;
  Finders finders{seen, options, recipes};
  if (!have_other_errors) {  // an honest precision needs no description
    const double precision = DistanceOfPrecision(seen, recipes, finders.evidence);
    if (precision < kInfinity) return ListedCauses(seen, finders.evidence, precision, recipes);
  }
  auto in_trace = CausesInTrace(seen, options, finders.is_large);
  if (in_trace && !(finders.is_large && in_trace->empty())) return *std::move(in_trace);
  std::vector<Cause> causes = finders.Usual();
  if (!finders.is_bug) std::erase_if(causes, [](const Cause& one) { return one.name == "moved"; });
  return causes.empty() ? finders.Others(rare) : causes;
}

// The causes of an answer to a smaller case, if the subject answers one wrongly.
std::vector<Cause> CausesInSmallerCase(const Observation& seen, const ProveOptions& options) {
  const ScopedBudget none((Budget()));  // that of the caller is of its case
  for (const Case& c : SmallerCasesOf(seen.c)) {
    const Tensors inputs = DrawInputs(c);
    const Answer answer = seen.how.subject->answer(c, inputs);
    if (answer.status != Answer::Status::kAnswered || !DescribeMismatch(c, answer.outputs).empty())
      continue;
    const Recipe recipe = ParseRecipe(seen.recipe.name, c.dtype());
    const auto [golden, permitted] = Enclose({c, inputs, recipe}, options);
    const Observation smaller{c, inputs, recipe, golden, permitted, answer.outputs, seen.how};
    if (AnsweredSliceOf(smaller, {}).failing_elements == 0) continue;
    std::vector<Cause> causes = CausesOfOneAnswer(smaller, options, {});
    for (Cause& cause : causes) cause.why += "; found in the smaller case `" + c.ToString() + "`";
    if (!causes.empty()) return causes;
  }
  return {};
}

}  // namespace

std::vector<Cause> CausesOf(const Observation& seen, const ProveOptions& options,
                            const ConformingRecipes& conforming) {
  size_t evaluations = kMostEvaluations;
  Observation limited = seen;
  limited.how.evaluations_left = &evaluations;
  const RepeatedQuestion again(seen);
  limited.how.subject = again.subject();
  // A subject with a state varies, too: what its first answer shows may be the reason.
  std::vector<Cause> causes = CausesOfOneAnswer(limited, options, conforming);
  const bool has_recipe = !conforming.recipes.empty() && !conforming.have_other_errors;
  if (causes.empty() && !has_recipe && seen.how.subject)  // an honest precision needs no cause
    causes = CausesInSmallerCase(limited, options);
  if (std::string varies = again.Difference(); !varies.empty())
    causes.insert(causes.begin(), {"varies", std::move(varies), true});
  return causes;
}

}  // namespace sextant::oracle
