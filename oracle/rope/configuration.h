// The rotary frequencies that a case's configuration asks for, for properties and defects.
#pragma once

#include <vector>

#include "oracle/property/measured.h"
#include "reference/case/case.h"
#include "reference/rope/scaling.h"

namespace sextant::oracle {

// The attributes base, scaling and seq_len of a case, and its rotary width (that of a matrix is D).
struct Configuration {
  explicit Configuration(const Case& c);
  RopeScaling scaling;
  RotarySetting setting;
};

// True if what becomes of a frequency depends on nothing but the frequency itself.
bool OfFrequencyAlone(const RopeScaling& scaling);

// The numbers themselves, correct to a double's last place. Without a scaling: unscaled.
struct ExactFrequencies {
  std::vector<double> of_pair;
  double amplitude = 1;
};
ExactFrequencies FrequenciesOf(const RopeScaling& scaling, const RotarySetting& setting);

// What the case's configuration multiplies cos and sin by.
Measured AmplitudeOf(const Case& c);

}  // namespace sextant::oracle
