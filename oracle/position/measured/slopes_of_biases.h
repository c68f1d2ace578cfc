// The slopes of heads, measured from biases that are products of a slope and a distance.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "oracle/diagnosis/measurement.h"
#include "oracle/rope/measured/numbers.h"

namespace sextant::oracle {

// A name and a sentence for a wrong factor.
struct NamedFactor {
  std::string name, sentence;
};

// The answer [H,S,T], each number with the largest relative error that the recipe permits in any.
class MeasuredBiases {
 public:
  MeasuredBiases(const Observation& seen, const Tensor<double>& answer);
  size_t H() const { return shape_[0]; }
  size_t S() const { return shape_[1]; }
  size_t T() const { return shape_[2]; }
  size_t PerHead() const { return S() * T(); }
  double At(size_t h, size_t i) const { return values_[h * PerHead() + i]; }
  LongRange RangeOf(size_t h, size_t i) const {
    const long double value = At(h, i), error = std::abs(value) * relative_;
    return {value - error, value + error};
  }
  // Biases that are cut off at the least one say nothing about the product.
  double least() const { return least_; }
  bool IsCut(size_t h, size_t i) const { return cuts_ && At(h, i) == least_; }
  void Cut() { cuts_ = true; }
  bool cuts() const { return cuts_; }
  // The head with the largest sum.
  size_t Pivot() const;
  // The ratios of a head to another that all their biases have; empty if there are none.
  LongRange RatioOf(size_t h, size_t to) const;

 private:
  Shape shape_;
  std::vector<double> values_;
  double relative_ = 0, least_ = 0;
  bool cuts_ = false;
};

// Slopes of all heads.
struct NamedSlopes {
  std::vector<NamedFactor> parts;
  std::vector<double> of;
};

// The slopes with which the heads differ as they do in the answer; heads that are 0 everywhere have
// the slope 0. Only the simplest: with the given slopes, if they fit.
std::vector<NamedSlopes> MeasuredSlopes(const MeasuredBiases& biases,
                                        const std::vector<double>& right);

}  // namespace sextant::oracle
