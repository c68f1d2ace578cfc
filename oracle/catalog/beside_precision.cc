#include "oracle/catalog/beside_precision.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "oracle/catalog/candidates.h"
#include "oracle/catalog/catalog.h"
#include "oracle/catalog/first_causes.h"
#include "oracle/catalog/named_causes.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/work.h"
#include "reference/base/value_text.h"
#include "reference/number/recipe/rounding_units.h"

namespace sextant::oracle {
namespace {

struct Precision {
  std::string change;  // "table=bf16"
  Recipe recipe;       // of the verdict, with the change
  std::vector<PermittedTensor> permitted;
  double width = 0;  // sum of the permitted errors
};

double WidthOf(const std::vector<PermittedTensor>& permitted) {
  double width = 0;
  for (const PermittedTensor& tensor : permitted) {
    for (const double error : tensor.error.data) width += std::isfinite(error) ? error : 0;
  }
  return width;
}

// Of the steps that have more digits, the narrowest first.
std::vector<Precision> PrecisionsNear(const Observation& seen, const ProveOptions& options) {
  std::vector<Precision> all;
  for (const Step step : seen.c.info().marked_steps) {
    const StepRule& rule = seen.recipe.steps[static_cast<size_t>(step)];
    for (const DType format : {DType::kF16, DType::kBF16}) {
      const DType now = rule.of_tensor ? seen.c.dtype() : rule.format;
      if (!rule.exact && UnitRoundoffOf(now) >= UnitRoundoffOf(format)) continue;
      std::string change = PrintValue(step) + "=" + std::string(NameOf(format));
      Recipe recipe = ParseRecipe(seen.recipe.name + " " + change, seen.c.dtype());
      auto permitted = PermittedErrors({seen.c, seen.inputs, recipe}, options);
      const double width = WidthOf(permitted);
      all.push_back({std::move(change), std::move(recipe), std::move(permitted), width});
    }
  }
  std::ranges::stable_sort(all, {}, &Precision::width);
  return all;
}

// Bounds that are this wide permit numbers that are fitted ("c = 0.7 (+- 0.1)") and two deviations
// by accident. A listed defect may be a precision: two of them are no bug.
bool IsTooLoose(const Observation& seen, const Cause& cause) {
  if (cause.name.find('+') != std::string::npos || cause.why.find("+- ") != std::string::npos)
    return true;
  const std::vector<Defect>& defects = CatalogEntryOf(seen.c.name()).defects;
  const auto at = std::ranges::find(defects, cause.name, &Defect::name);
  return at != defects.end() && !ButAPrecision(*at, seen.c, seen.inputs, seen.recipe);
}

}  // namespace

std::vector<Cause> CausesBesideAPrecision(const Observation& seen, const ProveOptions& options) {
  const size_t defects = CatalogEntryOf(seen.c.name()).defects.size();
  if (!IsForRareCauses(seen.c)) return {};
  const std::vector<Precision> precisions = PrecisionsNear(seen, options);
  const size_t most = std::min(precisions.size(), MostMeasurements(seen.c));
  return FirstCauses(most, options, [&](size_t i, const ProveOptions& here) {
    const Precision& precision = precisions[i];
    size_t no_evaluations = 0;  // of pairs, all of which IsTooLoose drops
    const Searching how{.evaluations_left = &no_evaluations, .is_second = true, .is_part = true};
    const Observation by_it{
        seen.c, seen.inputs, precision.recipe, seen.golden, precision.permitted, seen.answer, how};
    std::vector<Cause> causes;
    Evidence evidence(by_it, here);
    if (!IsEvidence(evidence.failing(), precisions.size() * defects)) return causes;
    causes = NamedCauses(by_it, evidence);
    std::erase_if(causes, [&](const Cause& cause) { return IsTooLoose(by_it, cause); });
    for (Cause& cause : causes) {
      cause.name += "+precision";
      cause.why += "; besides, its errors are such as `" + seen.recipe.name + " " +
                   precision.change + "` permits";
    }
    return causes;
  });
}

}  // namespace sextant::oracle
