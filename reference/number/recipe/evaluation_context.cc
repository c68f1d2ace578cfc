#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

Recipe Resolved(Recipe recipe, DType dtype) {
  for (StepRule& rule : recipe.steps) {
    if (rule.of_tensor) rule.format = dtype;
  }
  return recipe;
}

}  // namespace

ScopedRecipe::ScopedRecipe(const Recipe& recipe, DType dtype)
    : resolved_(Resolved(recipe, dtype)),
      recipe_(&resolved_),
      rule_(&resolved_.steps[static_cast<size_t>(this_context.step)]) {}

ScopedStore::ScopedStore(DType dtype) : at_(Step::kStore), rule_(this_context.rule) {
  if (!this_context.recipe) return;  // Interval and BoostReal do not round
  stored_ = *this_context.rule;
  if (stored_.of_tensor) stored_.format = dtype;
  this_context.rule = &stored_;
}

unsigned TakeStepsPerformed() { return std::exchange(this_context.steps_performed, 0u); }

}  // namespace sextant
