// Scattering: Rounded numbers rounded up or down by chance, to see how roundings act together.
//
// What is no value of the step's format becomes one of its two neighbours, each as often as the
// other, whatever accuracy a recipe claims for functions. What needs no rounding gets none. The
// same number in the same format is always rounded the same way, as implementations do. Roundings
// to nearest have half the standard deviation or less. Source: Vignes 2004, "Discrete stochastic
// arithmetic for validating results of numerical software", Numerical Algorithms 37 (CESTAC).
#pragma once

#include <cstdint>

#include "reference/number/double_double.h"
#include "reference/number/dtype.h"

namespace sextant {

// While it lives, this thread's Rounded numbers scatter, for every seed in another way; but for
// those of steps in f64, where roundings of doubles are not seen.
class Scattering {
 public:
  explicit Scattering(uint64_t seed);
  ~Scattering();
  Scattering(const Scattering&) = delete;
  Scattering& operator=(const Scattering&) = delete;

 private:
  const uint64_t* previous_;
  uint64_t seed_;
};

// What x becomes whose nearest value of `type` is y, another number: y unless in a Scattering.
double Scattered(DType type, const DoubleDouble& x, double y);

}  // namespace sextant
