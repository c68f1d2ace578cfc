#include "oracle/catalog/layers.h"

#include <algorithm>
#include <cmath>

#include "oracle/catalog/candidates.h"
#include "oracle/catalog/catalog.h"
#include "oracle/catalog/first_causes.h"
#include "oracle/diagnosis/answer/answered_parts.h"
#include "oracle/diagnosis/answer/structure.h"
#include "oracle/diagnosis/answer/summed_numbers.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/work.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

// So many listed defects are tried as the lower deviation: those that predict most.
constexpr size_t kDefects = 6;

// What the lower deviation gives, as if it were right. The answer may differ from the exact values
// of the wrong formula by the permitted error, and so may their prediction by the recipe.
struct Lower {
  std::vector<GoldenTensor> golden;
  std::vector<PermittedTensor> permitted;
};

// The answer beside the lower deviation. Does not own anything.
Observation Beside(const Observation& seen, const Lower& lower) {
  return {seen.c, seen.inputs, seen.recipe, lower.golden, lower.permitted, seen.answer};
}

void Set(GoldenTensor& golden, const std::vector<double>& values) {
  golden.value.data = golden.high.data = values;
  std::ranges::fill(golden.low.data, 0);
  std::ranges::fill(golden.radius.data, 0);
}

Lower PredictedBy(const Observation& seen, const Hypothesis& model) {
  // Not in slices: the model may read other slices.
  Lower lower{
      seen.golden,
      PermittedErrors({seen.c, model.inputs.Readers(), seen.recipe, *model.operation}, Slice{})};
  const Tensors values = EvaluateByRecipe({seen.c, model.inputs, seen.recipe, *model.operation});
  for (size_t o = 0; o < values.size(); ++o) {
    Set(lower.golden[o], values[o].values.data);
    for (double& error : lower.permitted[o].error.data) error *= 2;
    for (double& error : lower.permitted[o].likely.data) error *= 2;
  }
  return lower;
}

// True if the lower deviation permits as much as the numbers of the answer differ, where the right
// formula does not: it would explain any number there, or at places that are said to have it.
bool PermitsAnything(const AnsweredTensor& right, const AnsweredTensor& wrong) {
  double largest = 0;
  for (const double x : right.got) largest = std::max(largest, std::isfinite(x) ? std::abs(x) : 0);
  for (size_t flat = 0; flat < right.got.size(); ++flat) {
    const bool is_wide = wrong.bounds.LeavesOut(flat) || 2 * wrong.bounds[flat] >= largest;
    if (is_wide && !right.bounds.LeavesOut(flat) && 2 * right.bounds[flat] < largest) return true;
  }
  return false;
}

// The lower deviation is as evident as one alone, if its part is not the only one that was tried.
// An element says nothing if the right number is as near to the prediction as the answer may be.
bool IsEvident(const Observation& seen, const Lower& lower, size_t choices) {
  size_t explained = 0;
  for (size_t o = 0; o < seen.golden.size(); ++o) {
    const auto right = AnsweredTensorOf(seen, o);
    if (!right) continue;
    const auto wrong = AnsweredTensorOf(Beside(seen, lower), o);
    if (PermitsAnything(*right, *wrong)) return false;
    for (const size_t flat : right->failing) {
      const double distance = std::abs(wrong->right[flat] - right->right[flat]);
      explained += !(distance <= wrong->bounds[flat]) && wrong->Conforms(flat);
    }
  }
  return IsEvidence(explained, choices);
}

std::vector<Cause> Both(const Observation& seen, const Cause& lower_cause, const Lower& lower,
                        size_t choices) {
  const Observation beside = Beside(seen, lower);
  AnsweredTensors tensors(beside);
  const std::vector<StructuralFinding> findings = StructureOf(tensors);
  size_t explained = 0;
  for (const StructuralFinding& finding : findings) explained += finding.count;
  if (findings.empty() || explained != AnsweredSliceOf(beside, {}).failing_elements) return {};
  if (!IsEvident(seen, lower, choices)) return {};
  std::vector<Cause> causes{lower_cause};
  causes[0].why += "; together with " + findings[0].name;
  causes[0].is_beside = true;
  for (const StructuralFinding& finding : findings) {
    causes.push_back({finding.name,
                      finding.sentence + "; the right numbers are those of " + lower_cause.name,
                      true, true});
  }
  return causes;
}

std::vector<Cause> OnDefects(const Observation& seen, Evidence& evidence) {
  const std::vector<Defect>& defects = CatalogEntryOf(seen.c.name()).defects;
  const auto candidates = CandidatesButPrecisions(defects, seen.c, seen.inputs, seen.recipe);
  std::vector<Cause> found;
  for (const size_t i : evidence.NearestOf(candidates, kDefects)) {
    const Lower lower = PredictedBy(seen, *candidates[i].make());
    auto causes = Both(seen, {defects[i].name, defects[i].why}, lower, defects.size());
    if (causes.empty()) continue;
    if (found.empty()) {
      found = std::move(causes);
    } else {
      found[0].why += "; not identifiable here: " + defects[i].name + " explains it as well";
    }
  }
  return found;
}

// What the measurements, or sums of right numbers, say of a part.
std::vector<Cause> OnPart(const Observation& seen, Observation part, size_t parts,
                          const ProveOptions& options) {
  Evidence evidence(part, options);
  part.how.evidence = &evidence;
  for (const Measurement& measure : CatalogEntryOf(seen.c.name()).measurements) {
    for (const auto& [name, sentence, model] : measure(part)) {
      if (!model.operation || !evidence.FitOf(model).explains) continue;
      auto causes = Both(seen, {name, sentence, true}, PredictedBy(seen, model), parts);
      if (!causes.empty()) return causes;
    }
  }
  Lower lower{seen.golden, seen.permitted};
  Cause cause{"", "", true};
  for (size_t o = 0; o < seen.golden.size(); ++o) {
    const auto tensor = AnsweredTensorOf(part, o);
    const auto summed = tensor && !tensor->failing.empty() ? FindSummed(*tensor) : std::nullopt;
    if (!summed) continue;
    cause.name = summed->name;
    cause.why += (cause.why.empty() ? "" : "; ") + summed->sentence;
    Set(lower.golden[o], summed->expected);
    lower.permitted[o].error.data = lower.permitted[o].likely.data = summed->bounds;
  }
  return cause.name.empty() ? std::vector<Cause>() : Both(seen, cause, lower, parts);
}

}  // namespace

std::vector<Cause> LayeredCauses(const Observation& seen, Evidence& evidence,
                                 const ProveOptions& options) {
  std::vector<Cause> causes = OnDefects(seen, evidence);
  if (!causes.empty()) return causes;
  const std::vector<std::vector<PermittedTensor>> parts = PartsOf(seen);
  const size_t most = std::min(parts.size(), MostMeasurements(seen.c));
  return FirstCauses(most, options, [&](size_t i, const ProveOptions& here) {
    size_t no_evaluations = 0;  // of pairs: the structure of the rest is the second deviation
    const Searching how{.evaluations_left = &no_evaluations, .is_second = true, .is_part = true};
    return OnPart(seen, WithPermitted(seen, parts[i], how), parts.size(), here);
  });
}

}  // namespace sextant::oracle
