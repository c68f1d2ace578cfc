#include "oracle/catalog/named_causes.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "oracle/catalog/candidates.h"
#include "oracle/catalog/catalog.h"
#include "oracle/catalog/deciding_case.h"
#include "oracle/defect/defect.h"
#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/attributes.h"
#include "oracle/diagnosis/edit/plan_search.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/recipe/recipe_changes.h"

namespace sextant::oracle {
namespace {

// A cause is dropped if its distance from the answer exceeds kFarther times that of the nearest
// cause and kNoise per element. Correct answers with different summation orders differ by up to
// kNoise times the permitted error on average.
constexpr double kFarther = 2, kNoise = 0.125;

// "; verified on 512 of 8192 failing elements" if not all were compared.
std::string ExtentOfFit(const Evidence& evidence, const Fit& fit) {
  if (fit.compared == evidence.elements() || evidence.failing() == 0) return "";
  return "; verified on " + std::to_string(fit.verified) + " of " +
         std::to_string(evidence.failing()) + " failing elements";
}

// Distances are of as many elements for all of them.
double PerElement(const Fit& fit) {
  return fit.distance / static_cast<double>(std::max<size_t>(fit.compared, 1));
}

// True for a defect that changes the recipe alone.
bool IsPrecision(const Observation& seen, const Defect& defect) {
  const auto hypothesis = defect.hypothesis(seen.c, seen.inputs, seen.recipe);
  return hypothesis && hypothesis->recipe.steps != seen.recipe.steps;
}

// True for a defect that computes by one of the recipes.
bool IsOneOf(const std::vector<Recipe>& recipes, const Observation& seen, const Defect& defect) {
  const auto hypothesis = defect.hypothesis(seen.c, seen.inputs, seen.recipe);
  if (!hypothesis || hypothesis->recipe.steps == seen.recipe.steps) return false;
  const DType dtype = seen.c.dtype();
  return std::ranges::any_of(recipes, [&](const Recipe& recipe) {
    return CountChanges(recipe, hypothesis->recipe, dtype) == 0;
  });
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

// Adds an explanation whose model explains the answer, or that has none; calls use(explanation) in
// the first case.
using UseExplanation = std::function<void(const Explanation&)>;
void AddIfItFits(const Explanation& one, Evidence& evidence, const UseExplanation& use,
                 MeasuredFits& fits) {
  if (!one.model.operation) {
    fits.described.push_back({one.name, one.sentence, true});
    return;
  }
  const Fit fit = evidence.FitOf(one.model);
  if (!fit.explains) return;
  fits.nearest = std::min(fits.nearest, PerElement(fit));
  Cause cause{one.name, one.sentence + ExtentOfFit(evidence, fit), true};
  // Two measurements may come to the same.
  if (std::ranges::count(fits.causes, cause.why, &Cause::why) > 0) return;
  fits.causes.push_back(std::move(cause));
  if (use) use(one);
}

Observation WithEvidence(Observation seen, Evidence& evidence) {
  seen.how.evidence = &evidence;
  return seen;
}

MeasuredFits CausesMeasuredIn(const Observation& seen, Evidence& evidence,
                              const UseExplanation& use) {
  MeasuredFits fits;
  const Observation here = WithEvidence(seen, evidence);
  const auto add = [&](const std::vector<Explanation>& explanations) {
    for (const Explanation& one : explanations) AddIfItFits(one, evidence, use, fits);
  };
  const CatalogEntry& entry = CatalogEntryOf(seen.c.name());
  for (const Measurement& measure : entry.measurements) add(measure(here));
  if (entry.plan) add(MeasureEdits(here, entry.plan, Edits::kOne));
  if (fits.causes.empty()) add(MeasureEachAttribute(here));
  return fits;
}

}  // namespace

double DistanceOfPrecision(const Observation& seen, const std::vector<Recipe>& recipes,
                           Evidence& evidence) {
  if (evidence.failing() == 0) return kInfinity;
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

std::vector<Cause> ListedCauses(const Observation& seen, Evidence& evidence, double precision,
                                const std::vector<Recipe>& conforming) {
  const std::vector<Defect>& defects = CatalogEntryOf(seen.c.name()).defects;
  const std::vector<Fit> fits =
      evidence.FitsOf(CandidatesOf(defects, seen.c, seen.inputs, seen.recipe));
  std::vector<size_t> explaining;
  double nearest = kInfinity;
  for (size_t i = 0; i < fits.size(); ++i) {
    if (!fits[i].explains) continue;
    explaining.push_back(i);
    nearest = std::min(nearest, PerElement(fits[i]));
  }
  const double farthest = std::min(std::max(kFarther * nearest, kNoise), kFarther * precision);
  const bool is_evident = precision == kInfinity || IsEvidence(evidence.failing(), defects.size());
  // Of few errors, precisions are named by which the answer conforms, or that predict the same.
  std::vector<double> of_conforming;  // distances
  for (const size_t i : explaining)
    if (IsOneOf(conforming, seen, defects[i])) of_conforming.push_back(PerElement(fits[i]));
  const auto is_named = [&](size_t i) {
    return is_evident || (IsPrecision(seen, defects[i]) &&
                          std::ranges::count(of_conforming, PerElement(fits[i])) > 0);
  };
  std::erase_if(explaining,
                [&](size_t i) { return PerElement(fits[i]) > farthest || !is_named(i); });
  std::ranges::sort(explaining, {}, [&](size_t i) {
    return std::pair(PerElement(fits[i]) > kFarther * nearest, i);
  });
  std::vector<Cause> causes;
  std::vector<const Defect*> alike;  // the class of the nearest
  for (const size_t i : explaining) {
    causes.push_back({defects[i].name, defects[i].why + ExtentOfFit(evidence, fits[i])});
    if (PerElement(fits[i]) <= kFarther * nearest) alike.push_back(&defects[i]);
  }
  if (alike.size() > 1) causes[0].why += NotIdentifiable(seen, alike);
  return causes;
}

MeasuredFits MeasuredCauses(const Observation& seen, Evidence& evidence) {
  return CausesMeasuredIn(seen, evidence, {});
}

std::vector<Cause> CausesOfTwoEdits(const Observation& seen, Evidence& evidence) {
  MeasuredFits fits;
  if (const PlanMaker& plan = CatalogEntryOf(seen.c.name()).plan)
    for (const Explanation& one : MeasureEdits(WithEvidence(seen, evidence), plan, Edits::kTwo))
      AddIfItFits(one, evidence, nullptr, fits);
  return fits.causes;
}

std::vector<Cause> NamedCauses(const Observation& seen, const ProveOptions& options) {
  Evidence evidence(seen, options);
  return NamedCauses(seen, evidence);
}

std::vector<Cause> NamedCauses(const Observation& seen, Evidence& evidence) {
  const std::vector<Cause> listed = ListedCauses(seen, evidence);
  return listed.empty() ? MeasuredCauses(seen, evidence).causes : listed;
}

PartCauses NamedCausesOfPart(const Observation& part, Evidence& of_all,
                             const ProveOptions& options) {
  Evidence evidence(part, options);
  std::vector<Cause> listed = ListedCauses(part, evidence);
  if (!listed.empty()) return {std::move(listed)};
  std::vector<Cause> explaining_all;
  MeasuredFits fits = CausesMeasuredIn(part, evidence, [&](const Explanation& one) {
    const Fit fit = of_all.FitOf(one.model);
    if (fit.explains)
      explaining_all.push_back({one.name, one.sentence + ExtentOfFit(of_all, fit), true});
  });
  if (explaining_all.empty()) return {std::move(fits.causes)};
  return {std::move(explaining_all), true};
}

}  // namespace sextant::oracle
