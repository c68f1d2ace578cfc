#include "reference/attention/soft_cap.h"

#include "reference/case/operation.h"
#include "reference/number/lanes/each_number.h"

namespace sextant {

template <class Real>
SoftCapFunction<Real>::SoftCapFunction(double cap) : cap_(cap), divisor_(cap) {
  if constexpr (!RealArithmetic<Real>) {
    const ScopedStep at(Step::kCap);
    divisor_ = Single<Real>(1.0) / Single<Real>(cap);
  }
}

template <class Real>
Real SoftCapFunction<Real>::operator()(const Real& x) const {
  const ScopedStep at(Step::kCap);
  if constexpr (RealArithmetic<Real>) return cap_ * Tanh(x / divisor_);
  return cap_ * Tanh(x * divisor_);
}

void SoftCap::Check() const {
  if (!(cap > 0)) throw Error("cap is ", cap, ", expected more than 0");
}

template <class Real>
void SoftCap::operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
  const auto make = [this]<class Number>(std::type_identity<Number>) {
    return SoftCapFunction<Number>(cap);
  };
  SetEach(y.data, make, x.data);
}

template <>
std::unique_ptr<Operation> MakeOperation<SoftCap>() {
  return Wrap<SoftCap>();
}

template class SoftCapFunction<Interval>;
template class SoftCapFunction<Counted>;
template class SoftCapFunction<CountedLanes>;
template class SoftCapFunction<Rounded>;
template class SoftCapFunction<BoostReal>;

}  // namespace sextant
