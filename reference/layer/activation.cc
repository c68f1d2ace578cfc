#include "reference/layer/activation.h"

#include <concepts>
#include <limits>

#include "reference/case/array_operation.h"
#include "reference/number/clamp.h"
#include "reference/number/lanes/each_number.h"

namespace sextant {
namespace {

// f(), evaluated in step activation without any rounding. f enters no other step.
template <class F>
auto Unrounded(F f) {
  static const Recipe kExact = ParseRecipe("exact", DType::kF64);
  const ScopedStep at(Step::kActivation);
  const Scoped<&EvaluationContext::rule> exactly(
      &kExact.steps[static_cast<size_t>(Step::kActivation)]);
  return f();
}

// Whether gelu is computed by erfc. Types that follow a recipe use the recipe's form; exact types
// and exact steps always use erfc.
template <class Real>
bool UsesErfc() {
  if constexpr (RealArithmetic<Real>) {
    return true;
  } else {
    return CurrentRule().exact || CurrentRule().form == Form::kErfc;
  }
}

}  // namespace

template <class Real>
ActivationFunction<Real>::ActivationFunction(ActivationKind kind, double beta)
    : kind_(kind),
      beta_(beta),
      root_half_(Unrounded([] { return Sqrt(Single<Real>(0.5)); })),
      root_two_over_pi_(Unrounded([] { return Sqrt(Single<Real>(4.0) / TwoPi<Single<Real>>()); })),
      cubic_(Unrounded([] { return Single<Real>(44715.0) / Single<Real>(1e6); })) {}

// 1 + erf(t) = erfc(-t); erfc has no cancellation where t is far below 0, so centres always use it.
template <class Real>
Real ActivationFunction<Real>::Gelu(const Real& x) const {
  const Real t = x * root_half_, half = x * Real(0.5);
  if (UsesErfc<Real>()) return half * Erfc(-t);
  const Real y = half * (Real(1.0) + Erf(t));
  if constexpr (std::same_as<Single<Real>, Counted>) {
    return y.AroundCenterOf(Unrounded([&] { return x * Real(0.5) * Erfc(-(x * root_half_)); }));
  }
  return y;
}

// (1 + tanh t) / 2 is the sigmoid of 2 t, which has no cancellation, so exact steps use it, and
// centres; but not in f64, where drifts are a visible part of the permitted errors of stored
// goldens. Implementations compute x + 0.044715 x^3 or x (1 + 0.044715 x^2). The second form, used
// here, has one more rounding of x and one less of the cubic term: its error bound is never the
// smaller one.
template <class Real>
Real ActivationFunction<Real>::GeluTanh(const Real& x) const {
  const auto t = [&] { return root_two_over_pi_ * (x * (Real(1.0) + cubic_ * (x * x))); };
  const auto by_sigmoid = [&] { return x * Sigmoid(t() * Real(2.0)); };
  if constexpr (RealArithmetic<Real>) return by_sigmoid();
  if (CurrentRule().exact) return by_sigmoid();
  const Real y = x * Real(0.5) * (Real(1.0) + Tanh(t()));
  if constexpr (std::same_as<Single<Real>, Counted>) {
    if (CurrentRule().format != DType::kF64) return y.AroundCenterOf(Unrounded(by_sigmoid));
  }
  return y;
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
      return Relu(x);
    case ActivationKind::kRelu2: {
      const Real y = Relu(x);
      return y * y;
    }
    default:
      return Tanh(x);
  }
}

template <class Real>
Real Relu(const Real& x) {
  return Clamp(x, Real(0.0), Real(std::numeric_limits<double>::max()));
}

void Activation::Check() const {
  if (kind != ActivationKind::kSwish && beta != 1)
    throw Error("beta is ", beta, ", but kind=", PrintValue(kind), " has none: expected 1");
}

namespace {

auto FunctionOf(const Activation& op) {
  return [&op]<class Number>(std::type_identity<Number>) {
    return ActivationFunction<Number>(op.kind, op.beta);
  };
}

}  // namespace

template <class Real>
void Activation::operator()(const Tensor<Real>& x, Tensor<Real>& y) const {
  SetEach(y.data, FunctionOf(*this), x.data);
}

namespace {

bool EvaluateActivationInArrays(const Activation& op, const Tensors& inputs, CountedOutput& y) {
  y.format = FormatAt(Step::kActivation);
  y.level_1 = this_context.double_centers && op.kind == ActivationKind::kGelu;  // erf of doubles
  return SetEach(y.Span(), FunctionOf(op), ExactSpan{inputs[0]});
}

}  // namespace

template <>
std::unique_ptr<Operation> MakeOperation<Activation>() {
  return std::make_unique<ArrayOperation<Activation>>(EvaluateActivationInArrays);
}

template class ActivationFunction<Interval>;
template class ActivationFunction<Counted>;
template class ActivationFunction<CountedLanes>;
template class ActivationFunction<Rounded>;
template class ActivationFunction<BoostReal>;
template Interval Relu(const Interval&);
template Counted Relu(const Counted&);
template CountedLanes Relu(const CountedLanes&);
template Rounded Relu(const Rounded&);
template BoostReal Relu(const BoostReal&);

}  // namespace sextant
