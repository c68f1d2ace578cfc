#include "oracle/identify/growth_claims.h"

#include <algorithm>
#include <cmath>

#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

// ln gain = slope p + start; the sum of the weights of its observations.
struct Line {
  double slope = 0, start = 0, weight = 0;
};

// Weighted least squares: the error of ln gain is bar / gain.
Line LineOf(const std::vector<GainAt>& gains) {
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const auto& [position, gain, bar] : gains) {
    if (!(gain > bar) || !(bar > 0) || std::isinf(gain)) continue;
    const double weight = (gain / bar) * (gain / bar), log = std::log(gain);
    w += weight;
    x += weight * position;
    y += weight * log;
    xx += weight * position * position;
    xy += weight * position * log;
  }
  const double determinant = w * xx - x * x;
  if (!(determinant > 0)) return {};
  const double slope = (w * xy - x * y) / determinant;
  return {slope, (y - slope * x) / w, w};
}

// ln z at the part k/K of the pairs.
double LogZ(double part, double gamma) { return std::log((part + gamma) / (1 + gamma)); }

// The gamma at which ln z of the first pair is so many times that at `part`: more for a smaller
// one.
double GammaOf(double times, double part) {
  double low = 0x1p-20, high = 0x1p20;
  for (int i = 0; i < 100; ++i) {
    const double middle = std::sqrt(low * high);
    (LogZ(0, middle) / LogZ(part, middle) > times ? low : high) = middle;
  }
  return std::sqrt(low * high);
}

// The integers nearest to the position at which all gains are 1, at most kMost within the error
// bar.
std::vector<double> CentersOf(const std::vector<std::vector<GainAt>>& gains) {
  constexpr int kMost = 15;
  double weight = 0, sum = 0;  // least squares: start = -slope center
  for (const auto& of_pair : gains) {
    const Line line = LineOf(of_pair);
    weight += line.weight * line.slope * line.slope;
    sum -= line.weight * line.slope * line.start;
  }
  const double center = sum / weight, bar = 1 / std::sqrt(weight);
  const double nearest = std::round(center);
  std::vector<double> centers;
  for (int i = 0; i < kMost; ++i) {
    const double step = (i + 1) / 2;
    const double other = nearest + ((i % 2 == 1) == (center >= nearest) ? step : -step);
    if (i == 0 || std::abs(other - center) <= bar + 1) centers.push_back(other);
  }
  return centers;
}

}  // namespace

std::vector<Claim> WithGrowth(Claim claim, const std::vector<std::vector<GainAt>>& gains) {
  if (!claim.contains("scale_base") || gains.empty()) return {claim};
  const Line first = LineOf(gains[0]);
  if (first.slope == 0) return {claim};
  const auto set = [&](const char* key, const std::string& text) {
    if (const auto at = claim.find(key); at != claim.end()) at->second = text;
  };
  const size_t K = gains.size(), middle = K / 2;
  double gamma = claim.contains("gamma") ? std::stod(claim.at("gamma")) : 0.4;
  const Line second = LineOf(gains[middle]);
  if (middle > 0 && second.slope != 0 && claim.contains("gamma")) {
    gamma =
        GammaOf(first.slope / second.slope, static_cast<double>(middle) / static_cast<double>(K));
  }
  set("gamma", PrintValue(gamma));
  set("role", first.slope < 0 ? "query" : "key");
  set("scale_base", PrintValue(std::abs(LogZ(0, gamma) / first.slope)));
  if (!claim.contains("center")) return {claim};
  std::vector<Claim> claims;
  for (const double center : CentersOf(gains)) {
    set("center", PrintValue(center));
    claims.push_back(claim);
  }
  return claims;
}

}  // namespace sextant::oracle
