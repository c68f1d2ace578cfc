// For tests: the places of the outputs of a decoder block.
#pragma once

#include <cstddef>

namespace sextant {

inline constexpr size_t kY = 0, kNormed = 1, kQuery = 2, kKey = 3, kAttentionOut = 4, kMiddle = 5,
                        kHidden = 6;

}  // namespace sextant
