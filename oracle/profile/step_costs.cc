#include "oracle/profile/step_costs.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "reference/base/parallel.h"
#include "reference/base/value_text.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

constexpr StepRule kExact{.exact = true};

// The steps of the operations, in the order of their formulas.
std::vector<Step> StepsOf(const std::vector<ProvenCase>& cases) {
  std::vector<Step> steps;
  for (const ProvenCase& one : cases) {
    std::istringstream names{std::string(one.c.info().steps)};
    for (std::string name; names >> name;) {
      Step step{};
      ParseValue(name, step);
      if (std::ranges::count(steps, step) == 0) steps.push_back(step);
    }
  }
  std::erase(steps, Step::kStore);
  steps.push_back(Step::kStore);
  return steps;
}

// The recipe with exact steps where `rounds` is false.
RecipeOf Only(const std::string& recipe, std::function<bool(Step)> rounds) {
  return [recipe, rounds = std::move(rounds)](DType dtype) {
    Recipe changed = ParseRecipe(recipe, dtype);
    for (size_t i = 0; i < changed.steps.size(); ++i) {
      if (!rounds(static_cast<Step>(i))) changed.steps[i] = kExact;
    }
    return changed;
  };
}

}  // namespace

std::vector<double> UlpErrorsBy(const std::vector<ProvenCase>& cases, const RecipeOf& recipe) {
  std::vector<double> errors;
  for (const auto& [c, inputs, golden, permitted, budget] : cases) {
    const ScopedBudget within(budget);
    const Tensors answer = EvaluateByRecipe({c, inputs, recipe(c.dtype())});
    for (const AnsweredOutput& output : ErrorsOf(golden, permitted, answer)) {
      for (const ErrorSample& sample : output.samples) {
        if (!std::isnan(sample.ulp)) errors.push_back(In(ErrorUnit::kUlps, sample));
      }
    }
  }
  return errors;
}

StepCosts StepCostsOf(const std::vector<ProvenCase>& cases, const std::string& recipe,
                      int threads) {
  const auto cost = [&](std::function<bool(Step)> rounds) {
    return DistributionOf(UlpErrorsBy(cases, Only(recipe, std::move(rounds))));
  };
  StepCosts costs{cost([](Step) { return true; })};
  const Recipe named = ParseRecipe(recipe, cases.front().c.dtype());
  const auto is_exact = [&](Step step) { return named.steps[static_cast<size_t>(step)].exact; };
  std::vector<Step> steps = StepsOf(cases);
  std::erase_if(steps, is_exact);
  costs.steps.resize(steps.size());
  InParallel(steps.size(), threads, [&](size_t i) {
    const auto end = steps.begin() + static_cast<ptrdiff_t>(i) + 1;
    const std::set<Step> until(steps.begin(), end);
    const Step own = steps[i];
    costs.steps[i] = {.step = PrintValue(own),
                      .rule = TextOf(named.steps[static_cast<size_t>(own)]),
                      .only = cost([=](Step step) { return step == own; }),
                      .all_but = cost([=](Step step) { return step != own; }),
                      .up_to = cost([=](Step step) { return until.contains(step); })};
  });
  double before = 0;
  costs.remainder = costs.total.p99;
  for (StepCost& one : costs.steps) {
    one.added = one.up_to.p99 - before;
    before = one.up_to.p99;
    costs.remainder -= one.only.p99;
  }
  std::erase_if(costs.steps, [](const StepCost& one) { return one.only.largest == 0; });
  return costs;
}

}  // namespace sextant::oracle
