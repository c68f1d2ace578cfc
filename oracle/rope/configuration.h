// The rotary frequencies of a case's configuration, for properties and defects.
#pragma once

#include <vector>

#include "oracle/property/measured.h"
#include "reference/case/case.h"
#include "reference/rope/scaling.h"

namespace sextant::oracle {

// The attributes base, scaling and seq_len of a case, and its rotary width R (D for a matrix).
struct Configuration {
  explicit Configuration(const Case& c);
  RopeScaling scaling;
  RotarySetting setting;
};

// True if a scaled frequency depends on nothing but the unscaled frequency.
bool DependsOnFrequencyAlone(const RopeScaling& scaling);

// The frequencies in radians per token and the amplitude, accurate to the last place of a double.
// With NoScaling the frequencies are unscaled.
struct ExactFrequencies {
  std::vector<double> of_pair;
  double amplitude = 1;
};
ExactFrequencies FrequenciesOf(const RopeScaling& scaling, const RotarySetting& setting);

// The factor of cos and sin in the case's configuration.
Measured AmplitudeOf(const Case& c);

}  // namespace sextant::oracle
