#include "oracle/rope/measured_rows.h"

#include <algorithm>
#include <cmath>

#include "reference/number/counted.h"
#include "reference/number/real.h"

namespace sextant::oracle {
namespace {

// `most` of the numbers 0 .. count - 1, evenly spread, with the first and the last.
std::vector<size_t> Spread(size_t count, size_t most) {
  std::vector<size_t> chosen;
  const size_t n = std::min(count, most);
  for (size_t i = 0; i < n; ++i) chosen.push_back(n == 1 ? 0 : i * (count - 1) / (n - 1));
  return chosen;
}

}  // namespace

RotaryRows RowsOf(const Tensor<double>& x, const Tensor<double>& y, size_t tokens,
                  size_t replicates) {
  const size_t B = x.shape[0], H = x.shape[1], S = x.shape[2], D = x.shape[3];
  RotaryRows rows{.width = D, .x = {}, .y = {}, .token_of = Spread(B * S, tokens)};
  const std::vector<size_t> heads = Spread(H, replicates);
  rows.tokens = rows.token_of.size();
  rows.replicates = heads.size();
  for (const size_t token : rows.token_of) {
    for (const size_t h : heads) {
      const auto at = static_cast<std::ptrdiff_t>(((token / S * H + h) * S + token % S) * D);
      rows.x.insert(rows.x.end(), x.data.begin() + at, x.data.begin() + at + D);
      rows.y.insert(rows.y.end(), y.data.begin() + at, y.data.begin() + at + D);
    }
  }
  return rows;
}

// Channels of the next power of two have at least the errors of smaller ones.
double RotationErrors::Of(double magnitude) {
  if (!(magnitude > 0) || std::isinf(magnitude)) return magnitude == 0 ? 0 : kInfinity;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  const auto [at, is_new] = of_exponent_.try_emplace(exponent);
  if (is_new) at->second = Compute(std::ldexp(1.0, exponent));
  return at->second;
}

// As in any_angle.cc: cos and sin of 0.75 radians have the largest ulp of all numbers below 1, and
// 2 x cos(0.75) >= x cos(a) for every angle a.
double RotationErrors::Compute(double magnitude) const {
  const ScopedRecipe scope(recipe_, c_.dtype());
  std::pair<Counted, Counted> cos_sin;
  {
    const ScopedStep at(Step::kTrig);
    cos_sin = CosSin(Counted(0.75));
  }
  cos_sin = TableEntry(cos_sin, Counted(amplitude_));
  Counted sum;
  {
    const ScopedStep at(Step::kRotate);
    const Counted x(2 * magnitude, c_.dtype());
    sum = x * cos_sin.first + x * cos_sin.second;
  }
  const ScopedStore at(c_.dtype());
  const double error = Converted(sum).Permitted();
  return std::isnan(error) ? kInfinity : error;
}

// The least squares of |y - z x| over the replicates.
PairFit FitPair(const RotaryRows& rows, size_t token, PairOfChannels read, PairOfChannels written,
                RotationErrors& errors) {
  const auto pair = [](const double* row, PairOfChannels at) {
    return Complex(row[at.first], row[at.second]);
  };
  const auto error_of = [&](const Complex& x) {
    const auto most = std::max(std::abs(x.real()), std::abs(x.imag()));
    return std::sqrt(2.0) * errors.Of(static_cast<double>(most));
  };
  Complex product = 0;
  long double square = 0, error = 0;
  for (size_t n = 0; n < rows.replicates; ++n) {
    const Complex x = pair(rows.RowOfX(token, n), read), y = pair(rows.RowOfY(token, n), written);
    if (!std::isfinite(std::abs(x))) continue;  // says nothing about z
    product += std::conj(x) * y;
    square += std::norm(x);
    error += std::abs(x) * error_of(x);
  }
  PairFit fit{0, kInfinity, true};
  if (square > 0) fit = {product / square, static_cast<double>(error / square), true};
  for (size_t n = 0; n < rows.replicates; ++n) {
    const Complex x = pair(rows.RowOfX(token, n), read), y = pair(rows.RowOfY(token, n), written);
    if (!std::isfinite(std::abs(x))) continue;
    const long double bar = square > 0 ? fit.bar * std::abs(x) : 0;
    if (!(std::abs(y - fit.z * x) <= error_of(x) + bar)) fit.is_rotation = false;
  }
  return fit;
}

}  // namespace sextant::oracle
