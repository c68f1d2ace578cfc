#include "oracle/profile/cheapest_recipe.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "reference/base/parallel.h"
#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

// From wide to narrow. bf16 and f16 are no narrower than each other, so both follow f32.
std::vector<std::string> NarrowerThan(const std::string& format) {
  if (format == "f64") return {"f32"};
  if (format == "f32") return {"f16", "bf16"};
  return {};
}

// The formats of the steps that differ from `rest`.
struct Formats {
  std::string rest;
  std::map<Step, std::string> steps{};

  std::string Text() const {
    std::string text = "*=" + rest;
    for (const auto& [step, format] : steps) {
      if (format != rest) text += " " + PrintValue(step) + "=" + format;
    }
    return text + " store=T";
  }
};

Distribution ErrorsBy(const std::vector<ProvenCase>& cases, const std::string& recipe) {
  return DistributionOf(
      UlpErrorsBy(cases, [&](DType dtype) { return ParseRecipe(recipe, dtype); }));
}

}  // namespace

std::optional<CheapestRecipe> CheapestBelow(double ulps, const std::vector<ProvenCase>& cases,
                                            int threads) {
  std::set<Step> steps;  // steps that may become narrower
  bool wide = false;
  for (const ProvenCase& one : cases) {
    steps.insert(one.c.info().marked_steps.begin(), one.c.info().marked_steps.end());
    wide = wide || one.c.dtype() == DType::kF64;
  }
  Formats formats{wide ? "f64" : "f32"};
  for (const Step step : steps) formats.steps[step] = formats.rest;
  Distribution errors = ErrorsBy(cases, formats.Text());
  if (!(errors.p99 <= ulps)) return std::nullopt;
  while (true) {
    std::vector<Formats> tried;
    for (const auto& [step, format] : formats.steps) {
      for (const std::string& narrower : NarrowerThan(format)) {
        tried.push_back(formats);
        tried.back().steps[step] = narrower;
      }
    }
    std::vector<Distribution> measured(tried.size());
    InParallel(tried.size(), threads,
               [&](size_t i) { measured[i] = ErrorsBy(cases, tried[i].Text()); });
    const auto best = std::ranges::min_element(measured, {}, &Distribution::p99);
    if (best == measured.end() || !(best->p99 <= ulps)) break;
    errors = *best;
    formats = tried[static_cast<size_t>(best - measured.begin())];
  }
  return CheapestRecipe{formats.Text(), errors.p99, errors.largest};
}

}  // namespace sextant::oracle
