// ALiBi with another function of the distance.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "oracle/diagnosis/vocabulary/index_maps.h"
#include "reference/number/clamp.h"
#include "reference/number/real.h"
#include "reference/number/tensor/tensor.h"
#include "reference/position/alibi.h"

namespace sextant::oracle {

// A function of the distance i - j, or of -j, by which a slope is multiplied, and its numbers.
struct DistanceMap {
  const IndexMap* map;
  std::string name;
  std::vector<double> numbers = {1};  // the map has none
};
// `limits`: numbers that distances reach.
std::vector<DistanceMap> DistanceMaps(const std::vector<double>& limits);
std::vector<double> LimitsUpTo(double farthest);

// The bias with a map of the distances, to which a number was added.
struct ByDistance : Alibi {
  const IndexMap* map = nullptr;
  double number = 1, added = 0;
  std::optional<double> least{};  // smaller biases are clamped to it
  static constexpr double kNoLimit = 0x1p100;
  double Distance(double query, double key) const {
    const double d = (form == AlibiForm::kKey ? 0 : query) - key + added;
    const double distance = form == AlibiForm::kSymmetric ? std::abs(d) : d;
    return map ? map->of(distance, number) : distance;
  }
  template <class Real>
  void operator()(const Tensor<Real>& slope, const Tensor<double>& query, const Tensor<double>& key,
                  Tensor<Real>& bias) const {
    for (size_t s = 0; s < bias.shape[1]; ++s) {
      for (size_t t = 0; t < bias.shape[2]; ++t) {
        const ScopedStep at(Step::kBias);
        const Real factor(-Distance(query(s), key(t)));
        for (size_t h = 0; h < bias.shape[0]; ++h) {
          bias(h, s, t) = slope(h) * factor;
          if (least) bias(h, s, t) = Clamp(bias(h, s, t), Real(*least), Real(kNoLimit));
        }
      }
    }
  }
};

}  // namespace sextant::oracle
