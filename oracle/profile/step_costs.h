// What each step of a recipe costs: the error of an implementation in which only this step rounds,
// and of one in which all other steps round. The costs do not add up to the error of the recipe:
// the remainder is the interaction of the steps.
//
// A step converts its operands to its own format. So the cost of a step alone includes the rounding
// of what an earlier step stores: a rotation in bf16 rounds the table, too. `added` leaves that
// out: it is what the step adds to the steps before it, in the order of the operation's kSteps.
//
// Costs are compared by the error that 99 % of the elements do not exceed: where cancellation
// leaves an output near zero, a single rounding has thousands of its ulps.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle/profile/element_errors.h"
#include "reference/case/case.h"
#include "reference/number/recipe/recipe.h"
#include "reference/prove/budget.h"

namespace sextant::oracle {

// Errors in ulps of the outputs.
struct StepCost {
  std::string step, rule;        // "table", "bf16"
  Distribution only, all_but{};  // rounding only in this step; in all but this one
  Distribution up_to{};          // in this step and all before it, in the order of kSteps
  double added = 0;              // up_to.p99 less that of the step before
};

struct StepCosts {
  Distribution total;             // of the recipe
  double remainder = 0;           // total.p99 less the sum of only.p99
  std::vector<StepCost> steps{};  // without exact steps, and those that change nothing
};

// One case and its proven values; all must outlive the call.
struct ProvenCase {
  const Case& c;
  const Tensors& inputs;
  const std::vector<GoldenTensor>& golden;
  const std::vector<PermittedTensor>& permitted;
  Budget budget{};  // within which they were proven
};

// The errors in ulps of all elements of the cases, computed by the recipe that each case gets.
using RecipeOf = std::function<Recipe(DType)>;
std::vector<double> UlpErrorsBy(const std::vector<ProvenCase>& cases, const RecipeOf& recipe);

StepCosts StepCostsOf(const std::vector<ProvenCase>& cases, const std::string& recipe, int threads);

}  // namespace sextant::oracle
