#include "oracle/layer/measured/divisor.h"

#include <algorithm>
#include <cmath>

namespace sextant::oracle {

double& NumberOf(Norm& norm, FreeNumber free) {
  switch (free) {
    case FreeNumber::kEps:
      return norm.eps;
    case FreeNumber::kPower:
      return norm.power;
    case FreeNumber::kFactor:
      return norm.factor;
    default:
      return norm.count;
  }
}

double DivisorOf(const Norm& norm, double square) {
  if (norm.root == Norm::Root::kNoDivisor) return 1;
  if (norm.root == Norm::Root::kEpsAlone) return std::sqrt(norm.eps);
  if (norm.root == Norm::Root::kPower) return std::pow(square + norm.eps, norm.power);
  if (norm.root == Norm::Root::kEpsOutside) return std::sqrt(square) + norm.eps;
  if (norm.root == Norm::Root::kEpsAsFloor) return std::sqrt(std::max(square, norm.eps));
  return norm.root == Norm::Root::kMissing ? square + norm.eps : std::sqrt(square + norm.eps);
}

double DivisorOf(const Norm& norm, const Sums& sums) {
  if (norm.summed == Norm::Summed::kLargest) return sums.largest;
  if (norm.summed == Norm::Summed::kMagnitudes) return sums.sum / norm.count;
  if (norm.root == Norm::Root::kEpsTimesLargest)
    return std::sqrt(sums.sum / norm.count + norm.eps * sums.largest * sums.largest);
  return DivisorOf(norm, sums.sum / norm.count);
}

double BiasOf(const Norm& norm, double w, const std::vector<double>& bias, size_t j) {
  switch (norm.bias) {
    case Norm::Bias::kNone:
      return 0;
    case Norm::Bias::kTwice:
      return 2 * bias[j];
    case Norm::Bias::kSubtracted:
      return -bias[j];
    case Norm::Bias::kBeforeWeight:
      return bias[j] * w;
    default:
      return bias[j];
  }
}

Range AllowedBy(const Norm& norm, double sum, const Range& d, FreeNumber free) {
  if (free == FreeNumber::kNothing)
    return d.Contains(DivisorOf(norm, sum / norm.count)) ? Range{} : Range{1, 0};
  const double square = sum / norm.count, root = std::sqrt(square);
  if (free == FreeNumber::kPower) {
    const double a = std::log(d.low) / std::log(square + norm.eps),
                 b = std::log(d.high) / std::log(square + norm.eps);
    return {std::min(a, b), std::max(a, b)};
  }
  const bool linear = norm.root == Norm::Root::kEpsOutside || norm.root == Norm::Root::kMissing;
  const double power = norm.root == Norm::Root::kPower ? norm.power : 0.5;
  const Range whole = linear ? d : Range{std::pow(d.low, 1 / power), std::pow(d.high, 1 / power)};
  if (free == FreeNumber::kEps) {
    if (norm.root == Norm::Root::kEpsAlone) return whole;
    if (norm.root != Norm::Root::kEpsAsFloor) {
      const double rest = norm.root == Norm::Root::kEpsOutside ? root : square;
      return {whole.low - rest, whole.high - rest};
    }
    return {d.Contains(root) ? 0 : std::max(square, whole.low), whole.high};
  }
  const double eps = norm.root == Norm::Root::kEpsAsFloor ? 0 : norm.eps;
  Range squares{std::max(0.0, whole.low - eps), std::max(0.0, whole.high - eps)};
  if (norm.root == Norm::Root::kEpsOutside)
    squares = {squares.low * squares.low, squares.high * squares.high};
  return {sum / squares.high, sum / squares.low};
}

}  // namespace sextant::oracle
