// Conversions between doubles and the elements of stored tensors, in vectors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sextant {

// Sets `to` to the numbers of as many elements.
void Widen(const float* elements, std::span<double> to);
void WidenBF16(const uint16_t* elements, std::span<double> to);
// Sets as many elements to `values`, which are exact in the type of the elements.
void Narrow(std::span<const double> values, float* elements);
void NarrowToBF16(std::span<const double> values, uint16_t* elements);

// True if there is no NaN and no infinity.
bool AreFinite(std::span<const double> values);

}  // namespace sextant
