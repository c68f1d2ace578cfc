#include "reference/attention/soft_cap.h"

#include "reference/case/array_operation.h"
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

namespace {

auto FunctionOf(const SoftCap& op) {
  return
      [&op]<class Number>(std::type_identity<Number>) { return SoftCapFunction<Number>(op.cap); };
}

}  // namespace

template <class Real>
void SoftCap::operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
  SetEach(y.data, FunctionOf(*this), x.data);
}

namespace {

bool EvaluateSoftCapInArrays(const SoftCap& op, const Tensors& inputs, CountedOutput& y) {
  y.format = FormatAt(Step::kCap);
  return SetEach(y.Span(), FunctionOf(op), ExactSpan{inputs[0]});
}

}  // namespace

template <>
std::unique_ptr<Operation> MakeOperation<SoftCap>() {
  return std::make_unique<ArrayOperation<SoftCap>>(EvaluateSoftCapInArrays);
}

template class SoftCapFunction<Interval>;
template class SoftCapFunction<Counted>;
template class SoftCapFunction<CountedLanes>;
template class SoftCapFunction<Rounded>;
template class SoftCapFunction<BoostReal>;

}  // namespace sextant
