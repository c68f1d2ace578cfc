// Goldens: proven values and permitted errors of one case.
// The case is cut along the axes on which its elements are independent, and the slices are proven
// on all cores. The precision of a slice rises until every rounding in it is decided. The size of
// the slices bounds the memory. The result does not depend on the number of threads.
#pragma once

#include <functional>
#include <vector>

#include "reference/case/case.h"
#include "reference/number/recipe/recipe.h"
#include "reference/prove/golden.h"

namespace sextant {

// How values are proven. The ladder takes the cheapest enclosure that decides an element
// (proof.h). kMpfr takes level 3 for every element: the same values, far slower, as a check.
enum class Engine { kLadder, kMpfr };

struct ProveOptions {
  int threads = 0;  // 0: all cores
  // Gets the finished part, 0 .. 1, from any thread, one call at a time.
  std::function<void(double done)> progress = nullptr;
  // A subject's outputs, for a trace (reference/case/intermediate.h).
  const Tensors* subject_outputs = nullptr;
  Engine engine = Engine::kLadder;
};

// The proven values of every output, and the errors that `recipe` permits.
std::vector<GoldenTensor> Prove(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                const ProveOptions& options = {});
// The same for another operation than that of the case (one of Operation::Alternatives).
std::vector<GoldenTensor> Prove(const Operation& operation, const Case& c, const Tensors& inputs,
                                const Recipe& recipe, const ProveOptions& options = {});

// The permitted errors of a recipe for one output. `vacuous` marks elements for which any answer of
// the right size would pass. An infinite error cannot judge an element either.
struct PermittedTensor {
  std::string name;
  DType dtype;
  Tensor<double> error;
  Tensor<double> likely;      // <= error; the likely bound (counted.h)
  std::vector<char> vacuous;  // 0 or 1; not bits: threads set them side by side
};
std::vector<PermittedTensor> PermittedErrors(const Case& c, const Tensors& inputs,
                                             const Recipe& recipe,
                                             const ProveOptions& options = {});
std::vector<PermittedTensor> PermittedErrors(const Operation& operation, const Case& c,
                                             const Tensors& inputs, const Recipe& recipe,
                                             const ProveOptions& options = {});

// Values and permitted errors of one evaluation: half the time of Prove and PermittedErrors.
struct ProvenAndPermitted {
  std::vector<GoldenTensor> golden;
  std::vector<PermittedTensor> permitted;
};
ProvenAndPermitted ProveAndPermit(const Operation& operation, const Case& c, const Tensors& inputs,
                                  const Recipe& recipe, const ProveOptions& options = {});

// Level 1 of the ladder, for verdicts: the values are only enclosed, unless that decides them, by
// evaluations in which the weights of softmax and their means have centres in double. The radius of
// an element that is only enclosed is negative: the exact value lies within -radius of high + low,
// and `value` is that number rounded. Its permitted errors are valid. They differ from those of
// ProveAndPermit by at most 2 |radius|, because they include the drift, and 2^-40 of them: the
// weights differ by at most 2^-44 of themselves, and each part of a permitted error is a sum of
// products with few of them. (More, if a magnitude lies so close to a power of two that its ulp
// differs.) Cases in f64, and cases that cannot be cut, are proven.
ProvenAndPermitted Enclose(const Operation& operation, const Case& c, const Tensors& inputs,
                           const Recipe& recipe, const ProveOptions& options = {});
// One mark per element of each output, 0 or 1. Not bits: threads set them side by side.
using ElementMarks = std::vector<std::vector<char>>;
// Proves the marked elements, and some others, as ProveAndPermit does.
void ProveMarked(const Operation& operation, const Case& c, const Tensors& inputs,
                 const Recipe& recipe, const ProveOptions& options, const ElementMarks& marks,
                 ProvenAndPermitted& reference);

// True if the formula continues from one of a subject's outputs, so that it can be traced
// (reference/case/intermediate.h). Evaluates the smallest slice of the case.
bool ContinuesFrom(const Operation& operation, const Case& c, const Tensors& inputs,
                   const Recipe& recipe, const Tensors& subject_outputs);

// The answer of an implementation of the recipe (Rounded).
Tensors EvaluateByRecipe(const Case& c, const Tensors& inputs, const Recipe& recipe);
Tensors EvaluateByRecipe(const Operation& operation, const Case& c, const Tensors& inputs,
                         const Recipe& recipe);

}  // namespace sextant
