// Goldens: proven values and permitted errors of one case.
// The case is cut along the axes on which its elements are independent, and the slices are proven
// on all cores. The precision of a slice rises until every rounding in it is decided. The size of
// the slices bounds the memory. The result does not depend on the number of threads.
#pragma once

#include <functional>
#include <vector>

#include "reference/case/case.h"
#include "reference/number/recipe/recipe.h"
#include "reference/number/tensor/stored_tensor.h"
#include "reference/prove/golden.h"
#include "reference/prove/slices.h"

namespace sextant {

// Tensors, or readers of tensors, which must outlive this.
struct InputTensors {
  InputTensors(const Tensors& tensors) : whole(&tensors) {}  // implicit
  InputTensors(const TensorReaders& of_tensors) : readers(&of_tensors) {}
  const Tensors* whole = nullptr;
  const TensorReaders* readers = nullptr;
};

// What is evaluated: {c, inputs, recipe}. All must outlive this, so one with a name may not be made
// of temporaries.
struct Evaluation {
  const Case& c;
  InputTensors inputs;
  const Recipe& recipe;
  // Another one than that of the case: a mutated formula, or one of Operation::Alternatives.
  const Operation& operation = c.operation();
  // A subject's outputs, for a trace (reference/case/intermediate.h). If they are null, an
  // enclosing ScopedTrace is valid; its tensors must have the shape of the slice that is evaluated.
  const Tensors* subject_outputs = nullptr;
  const Slice* subject_part = nullptr;  // they have only this part of the case; null: all
};

// How values are proven. The ladder takes the cheapest enclosure that decides an element
// (proof.h). kMpfr takes level 3 for every element: the same values, far slower, as a check.
enum class Engine { kLadder, kMpfr };

struct ProveOptions {
  int threads = 0;  // 0: all cores
  // Gets the finished part, 0 .. 1, from any thread, one call at a time.
  std::function<void(double done)> progress = nullptr;
  Engine engine = Engine::kLadder;
};

// The proven values of every output, and the errors that the recipe permits.
std::vector<GoldenTensor> Prove(const Evaluation& evaluation, const ProveOptions& options = {});

// The permitted errors of a recipe for one output. `vacuous` marks elements for which any answer of
// the right size would pass. An infinite error cannot judge an element either.
struct PermittedTensor {
  std::string name;
  DType dtype;
  Tensor<double> error;
  Tensor<double> likely;      // <= error; the likely bound (counted.h)
  std::vector<char> vacuous;  // 0 or 1; not bits: threads set them side by side
  // Of codes: the permitted error before the last rounding (golden.h). Empty for other outputs.
  std::vector<double> before_rounding{};
};
std::vector<PermittedTensor> PermittedErrors(const Evaluation& evaluation,
                                             const ProveOptions& options = {});

// Values and permitted errors together: half the time of Prove and PermittedErrors.
struct ProvenAndPermitted {
  std::vector<GoldenTensor> golden;
  std::vector<PermittedTensor> permitted;
};
ProvenAndPermitted ProveAndPermit(const Evaluation& evaluation, const ProveOptions& options = {});

// Level 1 of the ladder, for verdicts: the values are only enclosed, unless that decides them, by
// evaluations in which the weights of softmax and their means have centres in double. The radius of
// an element that is only enclosed is negative: the exact value lies within -radius of high + low,
// and `value` is that number rounded. Its permitted errors are valid. They differ from those of
// ProveAndPermit by at most 2 |radius|, because they include the drift, and 2^-40 of them: the
// weights differ by at most 2^-44 of themselves, and each part of a permitted error is a sum of
// products with few of them. (More, if a magnitude lies so close to a power of two that its ulp
// differs.) Cases in f64, and cases that cannot be cut, are proven.
ProvenAndPermitted Enclose(const Evaluation& evaluation, const ProveOptions& options = {});
// One mark per element of each output, 0 or 1. Not bits: threads set them side by side.
using ElementMarks = std::vector<std::vector<char>>;
// Proves the marked elements, and some others, as ProveAndPermit does.
void ProveMarked(const Evaluation& evaluation, const ProveOptions& options,
                 const ElementMarks& marks, ProvenAndPermitted& reference);

// True if the formula continues from one of the subject's outputs, so that it can be traced.
// Evaluates the smallest slice of the case.
bool CanBeTraced(const Evaluation& evaluation);

// The answer of an implementation of the recipe (Rounded).
Tensors EvaluateByRecipe(const Evaluation& evaluation);

}  // namespace sextant
