// Intermediates: tensors that a composite operation computes on its way to its answer, and writes
// into optional outputs, in the order in which they are computed:
//   normed = ...;                                      // an output of the operation
//   const Tensor<Real> x = Intermediate(normed);       // what the formula goes on from
// That is the tensor as stored, by default in step keep. In a trace it is what the subject answered
// for this output: each later output then has the value, and the permitted error, of what follows
// from that answer. An implementation that stores more than it answers (f32 scores, answered in
// bf16) goes on from a number whose rounding it answers: that much is permitted.
//
// An output is known by its address. So only outputs of the operation under evaluation are traced,
// never tensors of the operations that it consists of.
#pragma once

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "reference/number/evaluation_context.h"
#include "reference/number/tensor.h"

namespace sextant {

// While it lives, formulas go on from those tensors of `given` that are intermediates of theirs.
class ScopedTrace {
 public:
  explicit ScopedTrace(const Tensors& given) : given_(given), trace_(this) {}  // must outlive it
  bool used() const { return used_; }  // did any formula go on from one?

 private:
  friend class ScopedOutputs;

  const Tensors& given_;
  bool used_ = false;
  Scoped<&EvaluationContext::trace> trace_;
};

// The outputs of the operation under evaluation, for the trace that there may be.
class ScopedOutputs {
 public:
  ScopedOutputs();
  void Add(std::string_view name, const void* output);
  // What a subject answered for that output; null if it is none, or was not answered.
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

// What a formula goes on from in place of `part`, which lies `first` elements from the begin of
// that output.
template <class Real>
Tensor<Real> IntermediatePart(const Tensor<Real>& output, size_t first, Tensor<Real>& part,
                              Step step = Step::kKeep);

template <class Real>
Tensor<Real> Intermediate(Tensor<Real>& output, Step step = Step::kKeep) {
  return IntermediatePart(output, 0, output, step);
}

// The output becomes x; what the formula goes on from has x's shape.
template <class Real>
Tensor<Real> IntermediateAs(Tensor<Real> x, Tensor<Real>& output) {
  output.data = std::move(x.data);
  Tensor<Real> next = Intermediate(output);
  next.shape = std::move(x.shape);
  return next;
}

// A tensor that is no output, stored between two operations.
template <class Real>
Tensor<Real> Stored(Tensor<Real> x) {
  const ScopedStep at(Step::kKeep);
  for (Real& value : x.data) value = Converted(value);
  return x;
}

}  // namespace sextant
