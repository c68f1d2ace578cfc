// Intermediates: tensors between two operations of a composite operation. The formula writes them
// into optional outputs, in the order in which it computes them:
//   normed = ...;                                      // an output of the operation
//   const Tensor<Real> x = Intermediate(normed);       // the input of the next operation
// Intermediate returns the tensor as stored, by default in step keep. In a trace it returns the
// subject's answer for this output instead: the values and the permitted errors of all later
// outputs then follow from that answer. An implementation may store an intermediate with more bits
// than it answers (f32 scores, answered in bf16). It continues from the number before that
// rounding, so the error of the rounding is permitted.
//
// An output is identified by its address. So only outputs of the operation under evaluation are
// traced, never tensors of the operations that it consists of.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

// During its lifetime formulas continue from the tensors of `given` that are their intermediates.
class ScopedTrace {
 public:
  // `given` must outlive the trace.
  explicit ScopedTrace(const Tensors& given) : given_(given), trace_(this) {}
  bool used() const { return used_; }  // true if a formula used one of the tensors

 private:
  friend class ScopedOutputs;

  const Tensors& given_;
  bool used_ = false;
  Scoped<&EvaluationContext::trace> trace_;
};

// The outputs of the operation under evaluation, for an enclosing ScopedTrace.
class ScopedOutputs {
 public:
  ScopedOutputs();
  void Add(std::string_view name, const void* output);
  // The subject's answer for that output; null if there is no answer, or if it is not an output.
  static const NamedTensor* AnswerFor(const void* output);

 private:
  struct Traced {
    const void* output;
    const NamedTensor* answer;
  };
  ScopedTrace* const trace_;
  std::vector<Traced> traced_;
  Scoped<&EvaluationContext::outputs> outputs_;
};

// Intermediate for a part of an output, which begins at element `first` of it. Rounds `part` as
// stored in `step`, and returns the tensor from which the formula continues.
template <class Real>
Tensor<Real> IntermediatePart(const Tensor<Real>& output, size_t first, Tensor<Real>& part,
                              Step step = Step::kKeep);

template <class Real>
Tensor<Real> Intermediate(Tensor<Real>& output, Step step = Step::kKeep) {
  return IntermediatePart(output, 0, output, step);
}

// Writes x to the output, and returns the intermediate in the shape of x.
template <class Real>
Tensor<Real> IntermediateAs(Tensor<Real> x, Tensor<Real>& output) {
  output.data = std::move(x.data);
  Tensor<Real> next = Intermediate(output);
  next.shape = std::move(x.shape);
  return next;
}

// A tensor as stored between two operations, which is not an output.
template <class Real>
Tensor<Real> Stored(Tensor<Real> x) {
  const ScopedStep at(Step::kKeep);
  ConvertAll(std::span<Real>(x.data));
  return x;
}

}  // namespace sextant
