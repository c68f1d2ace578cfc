// A rotation as a stranger computes it, in four factors: the channels of each pair, the positions,
// the frequencies and the gain. Each can be measured and exchanged separately. Positions are inputs
// of an operation, so a wrong position is a changed input.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/number/tensor.h"
#include "reference/rope/scaling.h"

namespace sextant::oracle {

// The frequency of one pair: `factor` times the scaled power base^-(k/n), radians per token.
struct PairFrequency {
  int64_t k = 0, n = 1;
  int64_t scaled_as = 0;  // the pair whose scaling applies
  double factor = 1;
  size_t axis = 0;  // of the positions
};

struct RotaryModel {
  RopeScaling scaling, amplitude_of;  // of frequencies, and of cos and sin
  RotarySetting setting;              // base, seq_len and R
  std::vector<PairFrequency> pairs;   // [P]
  // The channels of pair k in x and in y, [P]. All other channels pass unchanged.
  std::vector<PairOfChannels> read, written;
  int amplitude_power = 1;  // of the configuration's amplitude
  double gain = 1;          // multiplies cos and sin
  double sine_gain = 1;     // multiplies sin once more
  bool forward = true;
  bool has_coordinates = false;  // positions are any real numbers
};

// The following templates are instantiated for Counted and Rounded.

// [P], radians per token. `given`: frequencies [P] that replace the scaled powers, or null.
template <class Real>
Tensor<Real> ModelFrequencies(const RotaryModel& model, const Tensor<Real>* given);

template <class Real>
Real ModelAmplitude(const RotaryModel& model);

// cos and sin, [B,S,P] each, with gain and direction.
template <class Real>
struct PairTables {
  Tensor<Real> cos, sin;
};
// frequency [P]; position [B,A,S].
template <class Real>
PairTables<Real> TablesOf(const RotaryModel& model, const Tensor<Real>& frequency,
                          const Tensor<double>& position);

// x, y [B,H,S,D].
template <class Real>
void Rotate(const RotaryModel& model, const PairTables<Real>& tables, const Tensor<Real>& x,
            Tensor<Real>& y);

}  // namespace sextant::oracle
