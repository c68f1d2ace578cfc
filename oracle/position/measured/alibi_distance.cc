#include "oracle/position/measured/alibi_distance.h"

#include <algorithm>

namespace sextant::oracle {
namespace {

const IndexMap kPower{
    "power", "another function of the distance: it is raised to the power #",
    [](double d, double n) { return std::copysign(std::pow(std::abs(d), n), d); }};
const IndexMap kLogarithm{
    "logarithm",
    "another function of the distance: its logarithm, ln(1 + |i - j|) with the sign of i - j",
    [](double d, double) { return std::copysign(std::log1p(std::abs(d)), d); }};
const IndexMap kAbsolute{"absolute", "the absolute distance |i - j| is used, as by form=symmetric",
                         [](double d, double) { return std::abs(d); }};
const IndexMap kNoFuture{"", "another function of the distance: 0 for keys after the query",
                         [](double d, double) { return std::max(d, 0.0); }};
const IndexMap kNoPast{"", "another function of the distance: 0 for keys before the query",
                       [](double d, double) { return std::min(d, 0.0); }};

}  // namespace

std::vector<double> LimitsUpTo(double farthest) {
  constexpr double kMostListed = 64;
  std::vector<double> limits;
  for (double n = 1; n <= std::min(farthest, kMostListed); ++n) limits.push_back(n);
  for (double n = 2 * kMostListed; n <= farthest; n *= 2) limits.insert(limits.end(), {n, n - 1});
  return limits;
}

std::vector<DistanceMap> DistanceMaps(const std::vector<double>& limits) {
  return {{&kClamped, "distance_clamped", limits}, {&kClampedBeyond, "distance_clamped", limits},
          {&kWrapped, "distance_wrapped", limits}, {&kRoundedDown, "distance_rounded", limits},
          {&kPower, "distance_power", {0.5, 2}},   {&kLogarithm, "distance_logarithm"},
          {&kAbsolute, "distance_absolute"},       {&kNoFuture, "future_without_bias"},
          {&kNoPast, "past_without_bias"}};
}

}  // namespace sextant::oracle
