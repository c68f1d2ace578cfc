#include "reference/position/alibi_slopes.h"

#include <bit>

#include "reference/case/operation.h"

namespace sextant {
namespace {

template <class Real>
Real ComputeIn(Step step, const auto& compute) {
  const ScopedStep at(step);
  return compute();
}

// 2^-(b k/n) in rounded arithmetic, in the form that the recipe gives for step slope.
template <class Real>
Real RoundedSlope(double b, int64_t k, int64_t n) {
  const Real factor(static_cast<double>(k)), two(2.0);
  const Real quotient =  // b/n
      ComputeIn<Real>(Step::kExponent, [&] { return Real(b) / Real(static_cast<double>(n)); });
  const ScopedStep at(Step::kSlope);
  switch (CurrentRule().form) {
    case Form::kExpLog:
      return Exp(-(factor * (Real(b) * Log(two) / Real(static_cast<double>(n)))));
    case Form::kPowerChain:  // ggml, Hugging Face's BLOOM
      return Power(Power(two, -quotient), factor);
    case Form::kIterated: {  // start * ratio**i
      const Real ratio = Power(two, -quotient);
      Real slope(1.0);
      for (int64_t i = 0; i < k; ++i) slope = slope * ratio;
      return slope;
    }
    default:  // MosaicML's MPT
      return Real(1.0) /
             Power(two, ComputeIn<Real>(Step::kExponent, [&] { return quotient * factor; }));
  }
}

// Exact: n is a power of two, so the exponent b k/n is a binary fraction of less than 120 bits.
template <RealArithmetic Real>
Real ExactSlope(double b, int64_t k, int64_t n) {
  return Exp2(-(Real(b) * Real(static_cast<double>(k)) / Real(static_cast<double>(n))));
}

template <class Real>
Real Slope(double b, int64_t k, int64_t n) {
  if constexpr (RealArithmetic<Real>) {
    return ExactSlope<Real>(b, k, n);
  } else {
    return RoundedSlope<Real>(b, k, n);
  }
}

}  // namespace

void AlibiSlopes::Check() const {
  if (max_bias < 0) throw Error("max_bias is ", max_bias, ", expected 0 or more");
}

SlopeExponent AlibiSlopes::ExponentOf(int64_t h, int64_t heads) {
  const auto n = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(heads)));
  if (h < n) return {h + 1, n};
  return {2 * (h - n) + 1, 2 * n};
}

template <class Real>
void AlibiSlopes::operator()(Tensor<Real>& slope) const {
  const auto heads = static_cast<int64_t>(slope.shape[0]);
  for (int64_t h = 0; h < heads; ++h) {
    const SlopeExponent e = ExponentOf(h, heads);
    slope(h) = Slope<Real>(max_bias, e.numerator, e.denominator);
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<AlibiSlopes>() {
  return Wrap<AlibiSlopes>();
}

}  // namespace sextant
