#include "reference/position/alibi_slopes.h"

#include <bit>

#include "reference/case/operation.h"

namespace sextant {
namespace {

template <class Real>
Real In(Step step, const auto& compute) {
  const ScopedStep at(step);
  return compute();
}

// How implementations compute 2^-(b k/n) in rounded arithmetic.
template <class Real>
Real ByForm(double b, int64_t k, int64_t n) {
  const Real kth(static_cast<double>(k)), two(2.0);
  const Real part =  // b/n
      In<Real>(Step::kExponent, [&] { return Real(b) / Real(static_cast<double>(n)); });
  const ScopedStep at(Step::kSlope);
  switch (CurrentRule().form) {
    case Form::kExpLog:
      return Exp(-(kth * (Real(b) * Log(two) / Real(static_cast<double>(n)))));
    case Form::kPowerChain:  // ggml, Hugging Face's BLOOM
      return Power(Power(two, -part), kth);
    case Form::kIterated: {  // start * ratio**i
      const Real ratio = Power(two, -part);
      Real slope(1.0);
      for (int64_t i = 0; i < k; ++i) slope = slope * ratio;
      return slope;
    }
    default:  // MosaicML's MPT
      return Real(1.0) / Power(two, In<Real>(Step::kExponent, [&] { return part * kth; }));
  }
}

// The exponent b k/n is a dyadic number of less than 120 bits.
template <RealArithmetic Real>
Real Exactly(double b, int64_t k, int64_t n) {
  return Exp2(-(Real(b) * Real(static_cast<double>(k)) / Real(static_cast<double>(n))));
}

template <class Real>
Real Slope(double b, int64_t k, int64_t n) {
  if constexpr (RealArithmetic<Real>) {
    return Exactly<Real>(b, k, n);
  } else {
    return ByForm<Real>(b, k, n);
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
