// The channels of the first input x[B,H,S,D] that a case rotates, by positions in the second input.
#pragma once

#include <functional>
#include <utility>

#include "oracle/property/property.h"
#include "reference/rope/rotated_channels.h"

namespace sextant::oracle {

// The rotated window of every row of x, its pairs, and the amplitude.
struct Window : RotatedChannels {
  explicit Window(const Case& c);
  // The flat index of the first element of row r, of B H S rows.
  size_t Row(size_t r) const { return r * width; }
  // The flat indices of the two channels of pair k in row r.
  std::pair<size_t, size_t> Pair(size_t r, size_t k) const;
  // Calls body(r, k, i, j) for the channels i and j of every pair k in every row r.
  void ForEachPair(const auto& body) const {
    for (size_t r = 0; r < rows; ++r) {
      for (size_t k = 0; k < pairs; ++k) {
        const auto [i, j] = Pair(r, k);
        body(r, k, i, j);
      }
    }
  }
  bool Holds(size_t channel) const { return channel >= offset && channel < offset + 2 * pairs; }

  size_t rows = 0;
  Measured amplitude = 1;
};

// The inputs with other positions.
Tensors WithPositions(Tensors inputs, const std::function<double(double)>& change);

}  // namespace sextant::oracle
