// What this thread evaluates formulas in: the step of a recipe, the precision of enclosures, the
// slice of a case ... One struct holds all of it. A scope changes a part of it while it lives, and
// restores what was there.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "reference/number/recipe.h"
#include "reference/number/sum_order.h"

namespace sextant {

struct Slice;         // reference/prove/slices.h
class ScopedTrace;    // reference/case/intermediate.h
class ScopedOutputs;  // reference/case/intermediate.h

struct EvaluationContext {
  const Recipe* recipe = nullptr;          // with the dtype of the case for T
  Step step = Step::kStore;                // steps nest: the innermost counts
  const StepRule* rule = nullptr;          // what Counted and Rounded obey
  unsigned steps_performed = 0;            // as bits 1 << Step: those whose rules were asked for
  int precision = 192;                     // bits of the endpoints that Interval makes
  SumOrder sum_order{};                    // of Rounded, where the recipe permits any
  std::optional<uint64_t> rounding_seed;   // set: Rounded rounds stochastically
  const Slice* slice = nullptr;            // null: the whole case is evaluated
  ScopedTrace* trace = nullptr;            // null: formulas go on from their own intermediates
  const ScopedOutputs* outputs = nullptr;  // of the operation under evaluation
};
inline constinit thread_local EvaluationContext this_context{};

// One member of the context, changed while it lives.
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

// The order in which Rounded adds up where the recipe permits any.
using ScopedSumOrder = Scoped<&EvaluationContext::sum_order>;
// The seed with which Rounded rounds stochastically (reference/number/stochastic_rounding.h).
using ScopedStochasticRounding = Scoped<&EvaluationContext::rounding_seed>;
// The part of a case for which a formula is evaluated.
using ScopedSlice = Scoped<&EvaluationContext::slice>;

// Formulas follow `recipe` for a case of type `dtype`.
class ScopedRecipe {
 public:
  ScopedRecipe(const Recipe& recipe, DType dtype);

 private:
  Recipe resolved_;
  Scoped<&EvaluationContext::recipe> recipe_;
  Scoped<&EvaluationContext::rule> rule_;
};

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

// The last rounding: step `store` in the output's own dtype.
class ScopedStore {
 public:
  explicit ScopedStore(DType dtype);

 private:
  ScopedStep at_;
  StepRule stored_;
  Scoped<&EvaluationContext::rule> rule_;
};

// The rule of the step that this thread is in.
const StepRule& CurrentRule();

// The steps whose rules this thread asked for since it asked this: so a test sees which steps a
// formula performs.
unsigned TakeStepsPerformed();

}  // namespace sextant
