#include "oracle/catalog/causes.h"

#include <algorithm>
#include <optional>

#include "oracle/block/measured/stage_question.h"
#include "oracle/catalog/named_causes.h"
#include "oracle/catalog/pairs.h"
#include "oracle/catalog/wrong_rows.h"
#include "oracle/diagnosis/answered_tensor.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/failing_block.h"
#include "oracle/diagnosis/fitted_number.h"
#include "oracle/diagnosis/repeated_question.h"
#include "oracle/diagnosis/structure.h"
#include "oracle/diagnosis/undone.h"
#include "oracle/diagnosis/work.h"
#include "oracle/diagnosis/wrong_stage.h"
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
  const bool has_narrow_bounds = UnitRoundoffOf(seen.c.dtype()) < UnitRoundoffOf(DType::kF16);
  if (!has_narrow_bounds) measured = MeasuredCauses(seen, evidence);
  std::vector<Cause> causes = ListedCauses(seen, evidence, measured.nearest);
  if (causes.empty())
    causes = has_narrow_bounds ? MeasuredCauses(seen, evidence).causes : measured.causes;
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
