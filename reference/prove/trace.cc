#include "reference/prove/trace.h"

#include <algorithm>

namespace sextant {
namespace {

thread_local Tracing* current = nullptr;

// The number to go on from in the current step, where a subject answered `own` in `dtype`.
template <class Real>
Real GoneOnFrom(double own, DType dtype) {
  return Real(own, dtype);
}
template <>
Counted GoneOnFrom<Counted>(double own, DType dtype) {
  return Counted::RoundedTo(own, dtype);
}

}  // namespace

Tracing::Tracing(const Tensors& given) : given_(given), previous_(current) { current = this; }
Tracing::~Tracing() { current = previous_; }

const NamedTensor* Tracing::Find(std::string_view name) {
  if (!current) return nullptr;
  const auto at = std::ranges::find(current->given_, name, &NamedTensor::name);
  if (at == current->given_.end()) return nullptr;
  current->used_ = true;
  return &*at;
}

template <class Real>
Tensor<Real> HandedPart(std::string_view name, size_t first, Tensor<Real>& part, Step step) {
  const InStep at(step);
  for (Real& y : part.data) y = Converted(y);
  const NamedTensor* own = Tracing::Find(name);
  if (!own) return part;
  Tensor<Real> given = part;
  for (size_t i = 0; i < given.data.size(); ++i)
    given.data[i] = GoneOnFrom<Real>(own->values.data[first + i], own->dtype);
  return given;
}

template Tensor<Interval> HandedPart(std::string_view, size_t, Tensor<Interval>&, Step);
template Tensor<Counted> HandedPart(std::string_view, size_t, Tensor<Counted>&, Step);
template Tensor<Rounded> HandedPart(std::string_view, size_t, Tensor<Rounded>&, Step);
template Tensor<Wide> HandedPart(std::string_view, size_t, Tensor<Wide>&, Step);

}  // namespace sextant
