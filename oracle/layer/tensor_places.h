// The places of tensors among the inputs and outputs of the operations of this family.
#pragma once

#include <cstddef>

namespace sextant::oracle {

inline constexpr size_t kX = 0, kWeight = 1, kBias = 2;  // inputs of norms and linear maps
inline constexpr size_t kResidual = 1, kNormWeight = 2;  // inputs of add_rms_norm after x
inline constexpr size_t kGate = 0, kUp = 1;              // inputs of gated
inline constexpr size_t kToken = 0, kTable = 1;          // inputs of embedding
inline constexpr size_t kY = 0;                          // the first output
inline constexpr size_t kSum = 1;                        // an output of add_rms_norm
inline constexpr size_t kHidden = 1;                     // an output of feed_forward

}  // namespace sextant::oracle
