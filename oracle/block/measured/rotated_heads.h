// What the rotation of queries or keys in a block computes: layout, gain, positions and
// frequencies, as in oracle/rope/measured/rotation.h.
#pragma once

#include <functional>
#include <memory>

#include "oracle/block/block_mutation.h"
#include "oracle/block/measured/block.h"
#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// The block with another rotation.
using WithRotation = std::function<std::shared_ptr<const Operation>(const RotationOfHeads&)>;

// Only of the first wrong tensor of a trace (oracle/diagnosis/wrong_stage.h), if that is q_rotated
// or k_rotated; else empty.
std::vector<Explanation> MeasureRotatedHeads(const Observation& seen, const WithRotation& block);

// The rotation first, or else everything that MeasureBlock measures. Mutated is the operation with
// the member `rotation`.
template <class Mutated>
std::vector<Explanation> MeasureRotatingBlock(const Observation& seen) {
  const auto rotations = MeasureRotatedHeads(seen, [&](const RotationOfHeads& rotation) {
    Mutated mutated;
    mutated.rotation = rotation;
    const auto operation = std::make_shared<Wrapped<Mutated, false>>(mutated);
    CopyAttributes(seen.c, *operation);
    return operation;
  });
  return rotations.empty() ? MeasureBlock(seen) : rotations;
}

}  // namespace sextant::oracle
