#include "reference/position/log_n_scale.h"

#include <optional>

#include "reference/case/operation.h"
#include "reference/number/real.h"

namespace sextant {
namespace {

struct Fraction {
  double numerator, denominator;
};

// ln n / ln m if it is rational, that is, if n and m are powers of the same integer. n, m >= 1, not
// both 1.
std::optional<Fraction> RationalLogarithm(int64_t n, int64_t m) {
  if (n == 1) return Fraction{0, 1};
  if (n < m) {
    const auto inverse = RationalLogarithm(m, n);
    if (!inverse) return inverse;
    return Fraction{inverse->denominator, inverse->numerator};
  }
  if (n % m != 0) return std::nullopt;
  const auto rest = RationalLogarithm(n / m, m);
  if (!rest) return rest;
  return Fraction{rest->numerator + rest->denominator, rest->denominator};
}

// Multiplies by ln n / ln m. The exact types use the exact quotient where it is rational.
template <class Real>
TableFactor<Real> LogarithmScale(int64_t n, int64_t m) {
  if constexpr (RealArithmetic<Real>) {
    if (const auto f = RationalLogarithm(n, m)) return {Real(f->numerator), Real(f->denominator)};
  }
  const ScopedStep at(Step::kFactor);
  return {Log(Real(static_cast<double>(n), DType::kI64)),
          Log(Real(static_cast<double>(m), DType::kI64))};
}

}  // namespace

void LogNScale::Check() const {
  const int64_t L = original_max_position_embeddings;
  if (L < 2 || L > kLargestInteger) {
    throw Error("original_max_position_embeddings is ", L, ", expected 2 to ", kLargestInteger);
  }
}

template <class Real>
void LogNScale::operator()(const Tensor<Real>& q, const Tensor<double>& position,
                           Tensor<Real>& y) const {
  y.data = q.data;
  for (size_t s = 0; s < q.shape[2]; ++s) {
    const int64_t n = static_cast<int64_t>(position(s)) + 1;
    if (n <= original_max_position_embeddings) continue;
    const auto scale = LogarithmScale<Real>(n, original_max_position_embeddings);
    for (size_t b = 0; b < q.shape[0]; ++b) {
      for (size_t h = 0; h < q.shape[1]; ++h) {
        for (size_t d = 0; d < q.shape[3]; ++d) y(b, h, s, d) = scale(q(b, h, s, d));
      }
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<LogNScale>() {
  return Wrap<LogNScale>();
}

}  // namespace sextant
