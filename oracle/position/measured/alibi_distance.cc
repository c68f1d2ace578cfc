#include "oracle/position/measured/alibi_distance.h"

#include <algorithm>

namespace sextant::oracle {

const std::array<DistanceMap, 8> kDistanceMaps = {{
    {"distance_clamped", "distances above # act as #",
     [](double d, double n) { return std::clamp(d, -n, n); }},
    {"distance_wrapped", "distances are taken modulo #",
     [](double d, double n) { return d - n * std::floor(d / n); }},
    {"distance_rounded", "distances are rounded down to multiples of #",
     [](double d, double n) { return n * std::floor(d / n); }},
    {"distance_power", "another function of the distance: it is raised to the power #",
     [](double d, double n) { return std::copysign(std::pow(std::abs(d), n), d); },
     DistanceMap::Takes::kPower},
    {"distance_logarithm",
     "another function of the distance: its logarithm, ln(1 + |i - j|) with the sign of i - j",
     [](double d, double) { return std::copysign(std::log1p(std::abs(d)), d); },
     DistanceMap::Takes::kNothing},
    {"distance_absolute", "the absolute distance |i - j| is used, as by form=symmetric",
     [](double d, double) { return std::abs(d); }, DistanceMap::Takes::kNothing},
    {"future_without_bias", "another function of the distance: 0 for keys after the query",
     [](double d, double) { return std::max(d, 0.0); }, DistanceMap::Takes::kNothing},
    {"past_without_bias", "another function of the distance: 0 for keys before the query",
     [](double d, double) { return std::min(d, 0.0); }, DistanceMap::Takes::kNothing},
}};

std::string TextOf(const DistanceMap& map, const std::string& number) {
  std::string text = map.what;
  for (size_t at; (at = text.find('#')) != std::string::npos;) text.replace(at, 1, number);
  return text;
}

}  // namespace sextant::oracle
