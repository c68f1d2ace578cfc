// The channels that a case rotates, and the pairs that they form; the columns of its tables.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "reference/case/case.h"
#include "reference/rope/scaling.h"

namespace sextant {

// True for operations that rotate the channels of their axis D.
bool RotatesChannels(const Operation& operation);

// The rotated window of the axis D: 2 * pairs channels from `offset` on. R is D if the operation
// has no dimension R. Precondition of the constructor: RotatesChannels(c.operation()).
struct RotatedChannels {
  explicit RotatedChannels(const Case& c);
  PairOfChannels Pair(size_t k) const;  // k < pairs
  // For each channel of the axis D, its pair; none for a channel that is not rotated.
  std::vector<std::optional<size_t>> PairOfEachChannel() const;

  Pairing pairing = Pairing::kInterleaved;  // the pairing of complex numbers
  size_t offset = 0, pairs = 0, width = 0;  // width: D
  size_t blocks = 1;  // blocks of channels; both channels of a pair are in one block
};

// The columns of pair k, 0 <= k < R/2, in the tables of a case of rope_cos_sin.
PairOfChannels ColumnsOf(const Case& c, size_t k);

}  // namespace sextant
