// Least squares of the logarithms of weights over scores, or over other numbers of the keys.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "reference/attention/attention_attributes.h"

namespace sextant::oracle {

inline constexpr double kDeviations = 6;  // standard deviations in an error bar

// Sums over rows of products of log weights l and scores x, each less its mean in the row.
struct ScoreSums {
  double xx = 0, xl = 0, ll = 0, count = 0;

  // Adds the keys of a row that are read.
  void AddKeys(std::span<const double> weights, const std::vector<double>& scores,
               const std::vector<char>& is_read, const KeyRange& keys) {
    double x_mean = 0, l_mean = 0, read = 0;
    for (size_t t = keys.first; t < keys.last; ++t) {
      if (!is_read[t]) continue;
      x_mean += scores[t], l_mean += std::log(weights[t]), ++read;
    }
    if (read < 2) return;
    x_mean /= read, l_mean /= read;
    for (size_t t = keys.first; t < keys.last; ++t) {
      if (!is_read[t]) continue;
      const double x = scores[t] - x_mean, l = std::log(weights[t]) - l_mean;
      xx += x * x, xl += x * l, ll += l * l;
    }
    count += read - 1;
  }
  double Slope() const { return xl / xx; }
  // The part of the variance of l that the slope leaves.
  double Left() const { return xx > 0 ? std::max(0.0, 1 - xl * xl / xx / ll) : 1; }
  // The error bar of the slope; `unit`: what a rounding changes.
  double Bar(double unit) const {
    const double rest = std::max(0.0, ll - Slope() * xl);
    return kDeviations * std::sqrt(rest / count / xx) + unit;
  }
};

}  // namespace sextant::oracle
