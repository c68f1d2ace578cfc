// The numbers of the distribution `normal` in vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sextant {

// Sets y[k] to the normal number of element first + k, for a spread of 1: the sum of 12 uniform
// numbers minus 6, the bits of which do not depend on the instruction set. `stream` as in Words
// (distributions.cc).
void SetNormalNumbers(uint64_t stream, size_t first, std::span<double> y);

}  // namespace sextant
