#include "reference/attention/soft_cap.h"

#include "reference/case/operation.h"

namespace sextant {

template <class Real>
SoftCapFunction<Real>::SoftCapFunction(double cap) : cap_(cap), divisor_(cap) {
  if constexpr (!RealArithmetic<Real>) {
    const ScopedStep at(Step::kCap);
    divisor_ = Real(1.0) / cap_;
  }
}

template <class Real>
Real SoftCapFunction<Real>::operator()(const Real& x) const {
  const ScopedStep at(Step::kCap);
  return cap_ * Tanh(RealArithmetic<Real> ? x / divisor_ : x * divisor_);
}

void SoftCap::Check() const {
  if (!(cap > 0)) throw Error("cap is ", cap, ", expected more than 0");
}

template <class Real>
void SoftCap::operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
  const SoftCapFunction<Real> capped(cap);
  for (size_t i = 0; i < x.data.size(); ++i) y.data[i] = capped(x.data[i]);
}

template <>
std::unique_ptr<Operation> MakeOperation<SoftCap>() {
  return Wrap<SoftCap>();
}

template class SoftCapFunction<Interval>;
template class SoftCapFunction<Counted>;
template class SoftCapFunction<Rounded>;
template class SoftCapFunction<BoostReal>;

}  // namespace sextant
