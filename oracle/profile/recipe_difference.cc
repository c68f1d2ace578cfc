#include "oracle/profile/recipe_difference.h"

#include <algorithm>
#include <cmath>

#include "reference/base/error.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

// The difference of two answers in each element that has a value, in ulps.
std::vector<double> Differences(const AnsweredOutput& a, const AnsweredOutput& b) {
  std::vector<double> differences;
  for (size_t i = 0; i < a.samples.size(); ++i) {
    const double ulp = a.samples[i].ulp;
    if (std::isnan(ulp)) continue;
    const bool same = a.got[i] == b.got[i] || (std::isnan(a.got[i]) && std::isnan(b.got[i]));
    const double difference = same ? 0 : (a.got[i] - b.got[i]) / ulp;
    differences.push_back(std::isnan(difference) ? INFINITY : difference);
  }
  return differences;
}

// Permitted errors of both together, in ulps.
std::vector<double> Permitted(const AnsweredOutput& a, const AnsweredOutput& b) {
  std::vector<double> permitted;
  for (size_t i = 0; i < a.samples.size(); ++i) {
    if (!std::isnan(a.samples[i].ulp))
      permitted.push_back((a.samples[i].permitted + b.samples[i].permitted) / a.samples[i].ulp);
  }
  return permitted;
}

}  // namespace

std::vector<DifferenceOfOutput> DifferencesOfRecipes(const Case& c, const Tensors& inputs,
                                                     const std::string& recipe,
                                                     const std::string& other,
                                                     const ProveOptions& options) {
  if (c.info().HasChoices())
    throw Error(c.name(), " chooses codes or indices, which have no distance in ulps");
  const Recipe own = ParseRecipe(recipe, c.dtype()), second = ParseRecipe(other, c.dtype());
  const auto [golden, permitted] = ProveAndPermit({c, inputs, own}, options);
  const auto answered = [&, &values = golden](const std::vector<PermittedTensor>& errors,
                                              const Recipe& by) {
    return ErrorsOf(values, errors, EvaluateByRecipe({c, inputs, by}));
  };
  const std::vector<AnsweredOutput> a = answered(permitted, own);
  const std::vector<AnsweredOutput> b =
      answered(PermittedErrors({c, inputs, second}, options), second);
  std::vector<DifferenceOfOutput> all;
  for (size_t o = 0; o < a.size(); ++o) {
    std::vector<double> differences = Differences(a[o], b[o]);
    const size_t elements = differences.size();
    all.push_back({a[o].name, elements, DistributionOf(std::move(differences)),
                   DistributionOf(Permitted(a[o], b[o]))});
  }
  for (size_t i = 0; i < own.steps.size(); ++i) {
    if (own.steps[i] == second.steps[i]) continue;
    Recipe mixed = own;
    mixed.steps[i] = second.steps[i];
    const std::vector<AnsweredOutput> changed = answered(permitted, mixed);
    for (size_t o = 0; o < a.size(); ++o) {
      const Distribution measured = DistributionOf(Differences(a[o], changed[o]));
      if (measured.largest > 0)
        all[o].steps.push_back({PrintValue(static_cast<Step>(i)), TextOf(own.steps[i]),
                                TextOf(second.steps[i]), measured});
    }
  }
  for (DifferenceOfOutput& output : all) {
    std::ranges::stable_sort(output.steps, std::greater(),
                             [](const auto& one) { return one.measured.p99; });
  }
  return all;
}

}  // namespace sextant::oracle
