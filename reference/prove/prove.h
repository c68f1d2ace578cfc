// Goldens: proven answers and permitted errors of one case.
// The case is cut along the axes on which its elements are independent; the slices are proven on
// all cores, each at a precision that rises until every rounding in it is decided. Memory is
// bounded by the slices, and the answer does not depend on how many threads there are.
#pragma once

#include <functional>
#include <vector>

#include "reference/case/case.h"
#include "reference/number/recipe.h"
#include "reference/prove/golden.h"

namespace sextant {

struct ProveOptions {
  int threads = 0;                                      // 0: all cores
  std::function<void(double done)> progress = nullptr;  // 0 .. 1, from any thread, one at a time
  const Tensors* own = nullptr;  // a subject's outputs, to go on from in a trace (trace.h)
};

// The proven values of every output, and what `recipe` permits.
std::vector<GoldenTensor> Prove(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                const ProveOptions& options = {});
// The same for an operation that is not the case's own (one of Operation::Alternatives).
std::vector<GoldenTensor> Prove(const Operation& operation, const Case& c, const Tensors& inputs,
                                const Recipe& recipe, const ProveOptions& options = {});

// Permitted errors of a recipe at known inputs, per output. Vacuous elements (any answer of the
// right size would pass) have `vacuous` set; an infinite error can judge nothing either.
struct PermittedTensor {
  std::string name;
  DType dtype;
  Tensor<double> error;
  Tensor<double> likely;  // at most error: what independent roundings of long sums hardly exceed
  std::vector<bool> vacuous;
};
std::vector<PermittedTensor> Permit(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                    const ProveOptions& options = {});
std::vector<PermittedTensor> Permit(const Operation& operation, const Case& c,
                                    const Tensors& inputs, const Recipe& recipe,
                                    const ProveOptions& options = {});

// What an implementation that follows the recipe answers.
Tensors AnswerBy(const Case& c, const Tensors& inputs, const Recipe& recipe);
Tensors AnswerBy(const Operation& operation, const Case& c, const Tensors& inputs,
                 const Recipe& recipe);

// "y[0,1,2]" for a flat row-major index.
std::string IndexText(const std::string& name, const Shape& shape, size_t flat);

}  // namespace sextant
