#include "reference/case/intermediate.h"

#include <algorithm>

#include "reference/number/real.h"

namespace sextant {
namespace {

// The number from which the current step continues, if the subject answered `own` in `dtype`.
template <class Real>
Real ResumedFrom(double own, DType dtype) {
  return Real(own, dtype);
}
template <>
Counted ResumedFrom<Counted>(double own, DType dtype) {
  return Counted::RoundedTo(own, dtype);
}

}  // namespace

ScopedOutputs::ScopedOutputs() : trace_(this_context.trace), outputs_(this) {}

void ScopedOutputs::Add(std::string_view name, const void* output) {
  if (!trace_) return;
  const auto at = std::ranges::find(trace_->given_, name, &NamedTensor::name);
  if (at != trace_->given_.end()) traced_.push_back({output, &*at});
}

const NamedTensor* ScopedOutputs::AnswerFor(const void* output) {
  const ScopedOutputs* const outputs = this_context.outputs;
  if (!outputs) return nullptr;
  const auto at = std::ranges::find(outputs->traced_, output, &Traced::output);
  if (at == outputs->traced_.end()) return nullptr;
  outputs->trace_->used_ = true;
  return at->answer;
}

template <class Real>
Tensor<Real> IntermediatePart(const Tensor<Real>& output, size_t first, Tensor<Real>& part,
                              Step step) {
  const ScopedStep at(step);
  ConvertAll(std::span<Real>(part.data));
  const NamedTensor* own = ScopedOutputs::AnswerFor(&output);
  if (!own) return part;
  Tensor<Real> given = part;
  for (size_t i = 0; i < given.data.size(); ++i)
    given.data[i] = ResumedFrom<Real>(own->values.data[first + i], own->dtype);
  return given;
}

template Tensor<Interval> IntermediatePart(const Tensor<Interval>&, size_t, Tensor<Interval>&,
                                           Step);
template Tensor<Counted> IntermediatePart(const Tensor<Counted>&, size_t, Tensor<Counted>&, Step);
template Tensor<Rounded> IntermediatePart(const Tensor<Rounded>&, size_t, Tensor<Rounded>&, Step);
template Tensor<BoostReal> IntermediatePart(const Tensor<BoostReal>&, size_t, Tensor<BoostReal>&,
                                            Step);

}  // namespace sextant
