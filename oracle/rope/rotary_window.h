// Which channels of its first input x[B,H,S,D] a case rotates, by positions in its second one.
#pragma once

#include <functional>
#include <utility>

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

// The inputs with other positions.
Tensors WithPositions(Tensors inputs, const std::function<double(double)>& change);

}  // namespace sextant::oracle
