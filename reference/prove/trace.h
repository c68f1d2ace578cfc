// Traces: every tensor of a composite operation judged on the subject's own previous ones.
//
// A composite operation writes what its parts hand on into optional outputs, in the order in which
// they are computed, and goes on from Handed(...):
//   normed = ...;
//   const Tensor<Real> x = Handed("normed", normed);
// That is the tensor as kept, by default in step keep; in a trace it is what the subject answered
// for it, so that each later output has the value, and the permitted error, of what follows that
// answer. An implementation that keeps more than it answers (f32 scores, answered in bf16) goes on
// from a number that its answer is the rounding of: that much is permitted.
#pragma once

#include <string_view>

#include "reference/case/operation.h"
#include "reference/number/recipe.h"
#include "reference/number/tensor.h"

namespace sextant {

// While it lives, this thread's formulas go on from those of `given` that they hand on.
class Tracing {
 public:
  explicit Tracing(const Tensors& given);  // must outlive it
  ~Tracing();
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
  bool used() const { return used_; }  // did any formula take one?

  // The tensor to go on from, or null.
  static const NamedTensor* Find(std::string_view name);

 private:
  const Tensors& given_;
  Tracing* previous_;
  bool used_ = false;
};

// Part of an output that lies `first` elements from its begin, as handed on.
template <class Real>
Tensor<Real> HandedPart(std::string_view name, size_t first, Tensor<Real>& part,
                        Step step = Step::kKeep);

template <class Real>
Tensor<Real> Handed(std::string_view name, Tensor<Real>& output, Step step = Step::kKeep) {
  return HandedPart(name, 0, output, step);
}

}  // namespace sextant
