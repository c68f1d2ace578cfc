// The context in which a thread evaluates formulas: the step of a recipe, the precision of
// enclosures, the slice of a case and so on, in one struct. A scope object changes one member, and
// its destructor restores the previous value.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "reference/number/recipe/recipe.h"
#include "reference/number/recipe/sum_order.h"

namespace sextant {

struct Slice;         // reference/prove/slices.h
class ScopedTrace;    // reference/case/intermediate.h
class ScopedOutputs;  // reference/case/intermediate.h

struct EvaluationContext {
  const Recipe* recipe = nullptr;          // T is replaced by the dtype of the case
  Step step = Step::kStore;                // the innermost step
  const StepRule* rule = nullptr;          // the rule of the step, for Counted and Rounded
  unsigned steps_performed = 0;            // bits 1 << Step of the steps whose rule was read
  int precision = 192;                     // bits of the endpoints of new Intervals
  SumOrder sum_order{};                    // of Rounded, if the recipe permits any order
  bool double_centers = false;             // where that is faster: level 1 (proof.h)
  bool uncertain = false;                  // the drift of a Counted did not decide a Floor
  std::optional<uint64_t> rounding_seed;   // set: Rounded rounds stochastically
  const Slice* slice = nullptr;            // null: the whole case is evaluated
  ScopedTrace* trace = nullptr;            // null: formulas use their own intermediates
  const ScopedOutputs* outputs = nullptr;  // of the operation under evaluation
};
inline constinit thread_local EvaluationContext this_context{};

// Sets one member of the context during the lifetime of the scope.
template <auto member>
class Scoped {
 public:
  using Value = std::remove_reference_t<decltype(this_context.*member)>;
  explicit Scoped(Value value) : before_(std::exchange(this_context.*member, std::move(value))) {}
  ~Scoped() { this_context.*member = std::move(before_); }
  Scoped(const Scoped&) = delete;
  Scoped& operator=(const Scoped&) = delete;

 private:
  Value before_;
};

// The order in which Rounded adds terms, if the recipe permits any order.
using ScopedSumOrder = Scoped<&EvaluationContext::sum_order>;
// The seed with which Rounded rounds stochastically
// (reference/number/rounded/stochastic_rounding.h).
using ScopedStochasticRounding = Scoped<&EvaluationContext::rounding_seed>;
// The part of a case for which a formula is evaluated.
using ScopedSlice = Scoped<&EvaluationContext::slice>;

// Counted and Rounded follow `recipe`, for a case of type `dtype`.
class ScopedRecipe {
 public:
  ScopedRecipe(const Recipe& recipe, DType dtype);

 private:
  Recipe resolved_;
  Scoped<&EvaluationContext::recipe> recipe_;
  Scoped<&EvaluationContext::rule> rule_;
};

// The step in which the following operations are computed. Steps nest: the innermost counts.
class ScopedStep {
 public:
  explicit ScopedStep(Step step)
      : step_(step),
        rule_(this_context.recipe ? &this_context.recipe->steps[static_cast<size_t>(step)]
                                  : nullptr) {}

 private:
  Scoped<&EvaluationContext::step> step_;
  Scoped<&EvaluationContext::rule> rule_;
};

// The last rounding: step `store`, in the dtype of the output.
class ScopedStore {
 public:
  explicit ScopedStore(DType dtype);

 private:
  ScopedStep at_;
  StepRule stored_;
  Scoped<&EvaluationContext::rule> rule_;
};

// The rule of this thread's current step. Requires a ScopedRecipe.
inline const StepRule& CurrentRule() {
  assert(this_context.rule && "Counted and Rounded need a ScopedRecipe");
  this_context.steps_performed |= 1u << static_cast<unsigned>(this_context.step);
  return *this_context.rule;
}

// The steps whose rule this thread has read since the previous call, as bits 1 << Step. Tests use
// it to see which steps a formula performs.
unsigned TakeStepsPerformed();

}  // namespace sextant
