#include "oracle/catalog/catalog.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "oracle/defect/generated_defects.h"
#include "oracle/property/common_properties.h"
#include "oracle/property/stateless.h"
#include "reference/case/operations.h"
#include "reference/prove/prove.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

template <class Op>
void Add(std::map<std::string, CatalogEntry, std::less<>>& all) {
  const auto operation = MakeOperation<Op>();
  CatalogEntry entry = MakeCatalogEntry<Op>();
  for (Defect& defect : GeneratedDefects(*operation)) entry.defects.push_back(std::move(defect));
  entry.properties.push_back(Stateless());
  if (std::ranges::any_of(operation->info().slices,
                          [&](char letter) { return IsIndependent(*operation, letter); })) {
    entry.properties.push_back(BatchInvariance());
    entry.properties.push_back(PermutationEquivariance());
  }
  all.emplace(operation->info().name, std::move(entry));
}

template <class... Ops>
std::map<std::string, CatalogEntry, std::less<>> MakeAll(List<Ops...>) {
  std::map<std::string, CatalogEntry, std::less<>> all;
  (Add<Ops>(all), ...);
  return all;
}

// A cause is dropped if its distance from the answer exceeds kFarther times that of the nearest
// cause and kNoise per element. Correct answers with different summation orders differ by up to
// kNoise times the permitted error on average.
constexpr double kFarther = 2, kNoise = 0.125;

// Sum over all elements of min(1, |answer - prediction| / unit), where the unit is the smaller of
// the permitted and the likely error.
double Distance(const Tensors& answer, const Tensors& predicted,
                const std::vector<PermittedTensor>& permitted) {
  double sum = 0;
  for (size_t o = 0; o < predicted.size(); ++o) {
    const auto at = std::ranges::find(answer, predicted[o].name, &NamedTensor::name);
    if (at == answer.end()) continue;
    for (size_t i = 0; i < at->values.data.size(); ++i) {
      const double got = at->values.data[i], expected = predicted[o].values.data[i];
      if (SameNumber(got, expected)) continue;
      const double unit = std::min(permitted[o].error.data[i], permitted[o].likely.data[i]);
      const double distance = std::abs(got - expected) / unit;
      sum += distance < 1 ? distance : 1;  // 1 for NaN too
    }
  }
  return sum;
}

}  // namespace

const CatalogEntry& CatalogEntryOf(std::string_view operation) {
  static const auto kAll = MakeAll(Operations());
  const auto at = kAll.find(operation);
  if (at == kAll.end()) throw Error("there is no operation '", operation, "'");
  return at->second;
}

const Defect& DefectNamed(std::string_view operation, std::string_view name) {
  const auto& defects = CatalogEntryOf(operation).defects;
  const auto at = std::ranges::find(defects, name, &Defect::name);
  if (at != defects.end()) return *at;
  throw Error(operation, " has no defect '", name, "'; it has:", NamesText(defects, &Defect::name));
}

std::vector<Cause> CausesOf(const Case& c, const Tensors& inputs, const Recipe& recipe,
                            const std::vector<PermittedTensor>& permitted, const Tensors& answer) {
  const double recipe_distance = Distance(answer, EvaluateByRecipe(c, inputs, recipe), permitted);
  if (recipe_distance == 0) return {};
  std::vector<std::pair<double, Cause>> found;
  double nearest = recipe_distance;
  for (const Defect& defect : CatalogEntryOf(c.name()).defects) {
    const auto hypothesis = defect.hypothesis(c, inputs, recipe);
    if (!hypothesis) continue;
    // The prediction first: it rules out most defects, and Explains takes much longer.
    const double distance = Distance(answer, Predict(*hypothesis, c), permitted);
    if (distance > recipe_distance / kFarther) continue;
    if (!Explains(*hypothesis, c, recipe, answer)) continue;
    found.emplace_back(distance, Cause{defect.name, defect.why});
    nearest = std::min(nearest, distance);
  }
  size_t elements = 0;
  for (const NamedTensor& tensor : answer) elements += tensor.values.data.size();
  const double noise = kNoise * static_cast<double>(elements);
  // The first limit drops defects that have little effect in this case: they would explain any
  // other bug. The second drops defects whose effect resembles that of the nearest one.
  const double farthest = std::min(recipe_distance / kFarther, std::max(kFarther * nearest, noise));
  std::vector<Cause> causes;
  for (const auto& [distance, cause] : found) {
    if (distance <= farthest) causes.push_back(cause);
  }
  return causes;
}

}  // namespace sextant::oracle
