#include "oracle/catalog/causes.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>

#include "oracle/block/measured/stage_question.h"
#include "oracle/catalog/catalog.h"
#include "oracle/catalog/deciding_case.h"
#include "oracle/catalog/pairs.h"
#include "oracle/catalog/wrong_rows.h"
#include "oracle/defect/defect.h"
#include "oracle/diagnosis/answered_tensor.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/failing_block.h"
#include "oracle/diagnosis/repeated_question.h"
#include "oracle/diagnosis/structure.h"
#include "oracle/diagnosis/undone.h"
#include "oracle/diagnosis/work.h"
#include "oracle/diagnosis/wrong_stage.h"
#include "reference/case/intermediate.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

// A cause is dropped if its distance from the answer exceeds kFarther times that of the nearest
// cause and kNoise per element. Correct answers with different summation orders differ by up to
// kNoise times the permitted error on average.
constexpr double kFarther = 2, kNoise = 0.125;

// All searches for two deviations in one answer evaluate so many slices: about a second.
constexpr size_t kMostEvaluations = 12000;

// "; verified on 512 of 8192 failing elements" if not all were compared.
std::string Extent(const Evidence& evidence, const Fit& fit) {
  if (fit.compared == evidence.elements() || evidence.failing() == 0) return "";
  return "; verified on " + std::to_string(fit.verified) + " of " +
         std::to_string(evidence.failing()) + " failing elements";
}

// Distances are of as many elements for all of them.
double PerElement(const Fit& fit) {
  return fit.distance / static_cast<double>(std::max<size_t>(fit.compared, 1));
}

// The distance per element of the nearest of the recipes that explain the answer; infinite if none
// does.
double DistanceOfPrecision(const Observation& seen, const std::vector<Recipe>& recipes,
                           Evidence& evidence) {
  std::vector<Candidate> candidates;
  for (const Recipe& recipe : recipes) {
    candidates.push_back({[&] {
      return std::optional<Hypothesis>(
          {seen.c.operation().Clone(), SharedInputs::Of(seen.inputs), recipe});
    }});
  }
  double nearest = kInfinity;
  for (const Fit& fit : evidence.FitsOf(candidates)) {
    if (fit.explains) nearest = std::min(nearest, PerElement(fit));
  }
  return nearest;
}

// True for a defect that changes the recipe alone.
bool IsPrecision(const Observation& seen, const Defect& defect) {
  const auto hypothesis = defect.hypothesis(seen.c, seen.inputs, seen.recipe);
  return hypothesis && hypothesis->recipe.steps != seen.recipe.steps;
}

// "; not identifiable here: b and c predict the same; S=2 would tell". Of many, no names.
std::string NotIdentifiable(const Observation& seen, const std::vector<const Defect*>& alike) {
  constexpr size_t kMostNamed = 3;
  std::string others;
  for (size_t i = 1; i < alike.size() && alike.size() <= kMostNamed; ++i)
    others += (i == 1 ? ": " : " and ") + alike[i]->name;
  if (!others.empty()) others += alike.size() == 2 ? " predicts the same" : " predict the same";
  const auto [word, answers] = DecidingWord(seen.c, seen.recipe, alike);
  if (!word.empty())
    others += "; " + word + (answers == alike.size() ? " would tell" : " would tell in part");
  return "; not identifiable here" + others;
}

// Without those that are farther than kFarther times `precision`: that explains the answer better.
// Of few failing elements some defect says the right numbers by accident; a precision comes first.
std::vector<Cause> ListedCauses(const Observation& seen, Evidence& evidence,
                                double precision = kInfinity) {
  const std::vector<Defect>& defects = CatalogEntryOf(seen.c.name()).defects;
  std::vector<Candidate> candidates;
  for (const Defect& defect : defects) {
    candidates.push_back({[&] { return defect.hypothesis(seen.c, seen.inputs, seen.recipe); },
                          defect.is_across_slices});
  }
  const std::vector<Fit> fits = evidence.FitsOf(candidates);
  std::vector<size_t> explaining;
  double nearest = kInfinity;
  for (size_t i = 0; i < fits.size(); ++i) {
    if (!fits[i].explains) continue;
    explaining.push_back(i);
    nearest = std::min(nearest, PerElement(fits[i]));
  }
  const double farthest = std::min(std::max(kFarther * nearest, kNoise), kFarther * precision);
  const bool is_evident = precision == kInfinity || IsEvidence(evidence.failing(), defects.size());
  std::erase_if(explaining, [&](size_t i) {
    return PerElement(fits[i]) > farthest || (!is_evident && !IsPrecision(seen, defects[i]));
  });
  std::ranges::sort(explaining, {}, [&](size_t i) {
    return std::pair(PerElement(fits[i]) > kFarther * nearest, i);
  });
  std::vector<Cause> causes;
  std::vector<const Defect*> alike;  // the class of the nearest
  for (const size_t i : explaining) {
    causes.push_back({defects[i].name, defects[i].why + Extent(evidence, fits[i])});
    if (PerElement(fits[i]) <= kFarther * nearest) alike.push_back(&defects[i]);
  }
  if (alike.size() > 1) causes[0].why += NotIdentifiable(seen, alike);
  return causes;
}

struct MeasuredFits {
  std::vector<Cause> causes;
  double nearest = kInfinity;    // the least distance per element
  std::vector<Cause> described;  // measured without a model; said if nothing else is
};

MeasuredFits MeasuredCauses(const Observation& seen, Evidence& evidence) {
  MeasuredFits fits;
  for (const Measurement& measure : CatalogEntryOf(seen.c.name()).measurements) {
    for (const auto& [name, sentence, model] : measure(seen)) {
      if (!model.operation) {
        fits.described.push_back({name, sentence, true});
        continue;
      }
      const Fit fit = evidence.FitOf(model);
      if (!fit.explains) continue;
      fits.nearest = std::min(fits.nearest, PerElement(fit));
      Cause cause{name, sentence + Extent(evidence, fit), true};
      // Two measurements may come to the same.
      if (std::ranges::find(fits.causes, cause.why, &Cause::why) == fits.causes.end())
        fits.causes.push_back(std::move(cause));
    }
  }
  return fits;
}

std::vector<Cause> NamedCauses(const Observation& seen, const ProveOptions& options) {
  Evidence evidence(seen, options);
  const std::vector<Cause> listed = ListedCauses(seen, evidence);
  return listed.empty() ? MeasuredCauses(seen, evidence).causes : listed;
}

std::vector<Cause> CausesFrom(const std::vector<StructuralFinding>& findings) {
  std::vector<Cause> causes;
  for (const StructuralFinding& finding : findings)
    causes.push_back({finding.name, finding.sentence, true});
  return causes;
}

// The structure of the answer, and the causes of what it does not explain. If these are not known,
// the structure may follow from the same unknown cause: rows without a key are 0.
std::vector<Cause> StructuralCauses(const Observation& seen, size_t failing,
                                    const ProveOptions& options) {
  const std::vector<StructuralFinding> findings = StructureOf(seen);
  std::vector<Cause> causes = CausesFrom(findings);
  size_t explained = 0;
  for (const StructuralFinding& finding : findings) explained += finding.count;
  if (findings.empty() || explained == failing) return causes;
  const auto permitted = WithoutExplained(seen.permitted, findings);
  const Observation rest{seen.c,    seen.inputs, seen.recipe,  seen.golden,
                         permitted, seen.answer, seen.subject, seen.evaluations_left};
  std::vector<Cause> others = NamedCauses(rest, options);
  if (others.empty()) return {};
  for (Cause& cause : others) {
    cause.why += "; elsewhere";
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
  const bool is_narrow = UnitRoundoffOf(seen.c.dtype()) < UnitRoundoffOf(DType::kF16);
  if (!is_narrow) measured = MeasuredCauses(seen, evidence);
  std::vector<Cause> causes = ListedCauses(seen, evidence, measured.nearest);
  if (causes.empty()) causes = is_narrow ? MeasuredCauses(seen, evidence).causes : measured.causes;
  return causes.empty() ? StructuralCauses(seen, evidence.failing(), here) : causes;
}

std::vector<Cause> CausesOfOneAnswer(const Observation& seen, const ProveOptions& options,
                                     const std::vector<Recipe>& conforming);

// The causes of the first wrong tensor of a composite operation, none if they are not known; what
// is wrong later does not count. Empty if there is no such tensor.
std::optional<std::vector<Cause>> CausesInTrace(const Observation& seen,
                                                const ProveOptions& options) {
  const auto stage = FirstWrongStage(seen, options);
  if (!stage) return std::nullopt;
  std::vector<Cause> causes = CausesOfStage(
      {seen.c, seen.inputs, seen.recipe, stage->golden, stage->permitted, seen.answer}, options);
  const auto question = causes.empty() ? StageQuestionOf(seen, stage->output) : std::nullopt;
  if (question) {
    const auto& [c, inputs, outputs, defaults] = *question;
    const auto [golden, permitted] = Enclose(c.operation(), c, inputs, seen.recipe, options);
    causes = CausesOfOneAnswer({c, inputs, seen.recipe, golden, permitted, outputs}, options, {});
  }
  for (Cause& cause : causes) cause.why = "first wrong at " + stage->output + ": " + cause.why;
  return causes;
}

// A wrong order of the numbers beside another deviation: hardly any number is right then.
std::vector<Cause> CausesBesideAnOrder(const Observation& seen, const ProveOptions& options) {
  for (const auto& [sentence, answer, permitted] : UndoneOrdersOf(seen)) {
    std::vector<Cause> causes = NamedCauses({.c = seen.c,
                                             .inputs = seen.inputs,
                                             .recipe = seen.recipe,
                                             .golden = seen.golden,
                                             .permitted = permitted,
                                             .answer = answer,
                                             .evaluations_left = seen.evaluations_left},
                                            options);
    if (causes.empty()) continue;
    for (Cause& cause : causes) cause.why += "; together with moved";
    causes.insert(causes.begin(), {"moved", sentence + "; together with " + causes[0].name, true});
    return causes;
  }
  return {};
}

// Another formula in a part of the answer: in one head, in the last columns.
std::vector<Cause> CausesInBlock(const Observation& seen, const ProveOptions& options) {
  const auto block = FailingBlockOf(seen);
  if (!block) return {};
  std::vector<Cause> causes = NamedCauses({.c = seen.c,
                                           .inputs = seen.inputs,
                                           .recipe = seen.recipe,
                                           .golden = seen.golden,
                                           .permitted = block->permitted,
                                           .answer = seen.answer,
                                           .evaluations_left = seen.evaluations_left},
                                          options);
  for (Cause& cause : causes) cause.why += "; only at " + block->text;
  return causes;
}

std::vector<Cause> CausesOfOneAnswer(const Observation& seen, const ProveOptions& options,
                                     const std::vector<Recipe>& conforming) {
  Evidence evidence(seen, options);
  const double precision = DistanceOfPrecision(seen, conforming, evidence);
  if (precision == kInfinity && evidence.elements() <= Evidence::kAlways) {
    if (auto causes = CausesInTrace(seen, options)) return *std::move(causes);
  }
  std::vector<Cause> causes = ListedCauses(seen, evidence, precision);
  if (precision < kInfinity) return causes;
  if (causes.empty()) causes = CausesFrom(NotComputedIn(seen));
  std::vector<Cause> described;  // an honest precision needs no description
  if (causes.empty()) {
    MeasuredFits measured = MeasuredCauses(seen, evidence);
    causes = std::move(measured.causes);
    if (conforming.empty()) described = std::move(measured.described);
  }
  if (causes.empty()) causes = StructuralCauses(seen, evidence.failing(), options);
  // More is looked for where hypotheses cost little: those of large cases copy large inputs.
  const bool is_small =
      evidence.elements() <= Evidence::kAlways && WorkOf(seen.c) <= MostWork(seen.c);
  if (causes.empty() && is_small) {
    causes = PairCauses(seen, evidence, options);
    const bool mostly_fails = 2 * evidence.failing() > evidence.elements();
    if (causes.empty() && mostly_fails) causes = CausesBesideAnOrder(seen, options);
    if (causes.empty()) causes = CausesInBlock(seen, options);
    if (causes.empty()) causes = CausesOfRows(seen, evidence, options);
  }
  return causes.empty() ? described : causes;
}

}  // namespace

std::vector<Cause> CausesOf(const Observation& seen, const ProveOptions& options,
                            const std::vector<Recipe>& conforming) {
  size_t evaluations = kMostEvaluations;
  Observation limited = seen;
  limited.evaluations_left = &evaluations;
  // A subject with a state varies, too: what its first answer shows may be the reason.
  std::vector<Cause> causes = CausesOfOneAnswer(limited, options, conforming);
  if (std::string varies = DifferenceOfSecondAnswer(seen); !varies.empty())
    causes.insert(causes.begin(), {"varies", std::move(varies), true});
  return causes;
}

}  // namespace sextant::oracle
