// The rotation in a question and its answer, in one form for every operation that rotates by
// positions under a configuration.
#pragma once

#include <optional>
#include <vector>

#include "oracle/identify/misfit.h"
#include "reference/rope/scaling.h"

namespace sextant::oracle {

struct SeenRotation {
  Tensor<double> x, y;      // [B,H,S,D]
  Tensor<double> position;  // [B,A,S] or [B,S], or [B]: of all tokens of a sequence
};

// The rotation of x [B,H,S,D] by position [B,S], [B,A,S] or [B]. A matrix [S,D,D] rotates vectors
// of 1 and -1, and a table of cos and sin [B,S,columns] rotates (1, 0) and (0, 1): the columns of a
// pair are then its channels. Empty if the operation has no base or no such tensors.
std::optional<SeenRotation> RotationIn(const Exchange& exchange);

// The rotated channels of a table of cos and sin, as its layout says; empty for other operations.
std::vector<PairOfChannels> PairsOfTable(const Case& c);

}  // namespace sextant::oracle
