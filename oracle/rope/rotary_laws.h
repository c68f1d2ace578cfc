// Laws of the operations that rotate their first input x[B,H,S,D] by positions, their second one;
// and by tables: rope_rotate. Source of all: Su et al. 2021, arXiv:2104.09864, section 3.4.2.
#pragma once

#include <vector>

#include "oracle/property/property.h"
#include "reference/rope/scaling.h"

namespace sextant::oracle {

// Where a case rotates what.
struct Window {
  explicit Window(const Case& c);
  // Flat index of the first element of row r, of B H S rows; and of the two channels of pair k.
  size_t Row(size_t r) const { return r * width; }
  std::pair<size_t, size_t> Pair(size_t r, size_t k) const;
  bool Holds(size_t channel) const { return channel >= offset && channel < offset + 2 * pairs; }

  Pairing pairing = Pairing::kInterleaved;  // that of complex numbers
  size_t offset = 0, pairs = 0, width = 0, rows = 0;
  size_t blocks = 1;  // of channels, paired each on its own
  Measured amplitude = 1;
};

// The case of `rope` that turns as many rows under those of its attributes that c has.
Case AsRope(const Case& c);

// What holds of any rotation of x, whatever turns it.
Property ChannelsOutsidePass();
Property LinearInX();
Property PairingsAgree();

// What holds where positions turn x.
std::vector<Property> LawsOfPositions();

// What holds where the frequencies come from a configuration; LinearScalingStretches is one of it.
Property LinearScalingStretches();
std::vector<Property> LawsOfConfiguration();

}  // namespace sextant::oracle
