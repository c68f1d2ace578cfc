#include "reference/layer/activation.h"

#include <limits>

#include "reference/case/operation.h"
#include "reference/number/clamp.h"

namespace sextant {
namespace {

// What f computes, without any rounding.
template <class F>
auto Unrounded(F f) {
  static const Recipe kExact = ParseRecipe("exact", DType::kF64);
  const ScopedRecipe exactly(kExact, DType::kF64);
  const ScopedStep at(Step::kActivation);
  return f();
}

// The form in which numbers that follow a recipe compute gelu; the exact types choose their own.
template <class Real>
bool ByErfc() {
  if constexpr (RealArithmetic<Real>) {
    return true;
  } else {
    return CurrentRule().form == Form::kErfc;
  }
}

}  // namespace

template <class Real>
ActivationFunction<Real>::ActivationFunction(ActivationKind kind, double beta)
    : kind_(kind),
      beta_(beta),
      root_half_(Unrounded([] { return Sqrt(Real(0.5)); })),
      root_two_over_pi_(Unrounded([] { return Sqrt(Real(4.0) / TwoPi<Real>()); })),
      cubic_(Unrounded([] { return Real(44715.0) / Real(1e6); })) {}

// 1 + erf(-t) is erfc(t), which keeps its digits where t is large.
template <class Real>
Real ActivationFunction<Real>::Gelu(const Real& x) const {
  const Real t = x * root_half_, half = x * Real(0.5);
  return ByErfc<Real>() ? half * Erfc(-t) : half * (Real(1.0) + Erf(t));
}

// (1 + tanh t) / 2 is the sigmoid of 2 t. Implementations form x^3 first, or x (1 + 0.044715 x^2):
// the latter charges one rounding more of x and one less of the rest, which is never less.
template <class Real>
Real ActivationFunction<Real>::GeluTanh(const Real& x) const {
  const Real t = root_two_over_pi_ * (x * (Real(1.0) + cubic_ * (x * x)));
  if constexpr (RealArithmetic<Real>) return x * Sigmoid(t * Real(2.0));
  return x * Real(0.5) * (Real(1.0) + Tanh(t));
}

template <class Real>
Real ActivationFunction<Real>::operator()(const Real& x) const {
  const ScopedStep at(Step::kActivation);
  switch (kind_) {
    case ActivationKind::kSigmoid:
      return Sigmoid(x);
    case ActivationKind::kSwish:
      return x * Sigmoid(beta_ * x);
    case ActivationKind::kGelu:
      return Gelu(x);
    case ActivationKind::kGeluTanh:
      return GeluTanh(x);
    case ActivationKind::kRelu:
      return Rectified(x);
    case ActivationKind::kRelu2: {
      const Real y = Rectified(x);
      return y * y;
    }
    default:
      return Tanh(x);
  }
}

template <class Real>
Real Limited(const Real& x, const Real& low, const Real& high) {
  if constexpr (std::same_as<Real, Interval>) {
    if (!x.IsSpecified()) return x;  // nor is a limit of it
  }
  return Clamp(x, low, high);
}

template <class Real>
Real Rectified(const Real& x) {
  return Limited(x, Real(0.0), Real(std::numeric_limits<double>::max()));
}

void Activation::Check() const {
  if (kind != ActivationKind::kSwish && beta != 1)
    throw Error("beta is ", beta, ", but kind=", PrintValue(kind), " has none: expected 1");
}

template <class Real>
void Activation::operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
  const ActivationFunction<Real> f(kind, beta);
  for (size_t i = 0; i < x.data.size(); ++i) y.data[i] = f(x.data[i]);
}

template <>
std::unique_ptr<Operation> MakeOperation<Activation>() {
  return Wrap<Activation>();
}

template class ActivationFunction<Interval>;
template class ActivationFunction<Counted>;
template class ActivationFunction<Rounded>;
template class ActivationFunction<BoostReal>;
template Interval Rectified(const Interval&);
template Counted Rectified(const Counted&);
template Rounded Rectified(const Rounded&);
template BoostReal Rectified(const BoostReal&);
template Interval Limited(const Interval&, const Interval&, const Interval&);
template Counted Limited(const Counted&, const Counted&, const Counted&);
template Rounded Limited(const Rounded&, const Rounded&, const Rounded&);
template BoostReal Limited(const BoostReal&, const BoostReal&, const BoostReal&);

}  // namespace sextant
