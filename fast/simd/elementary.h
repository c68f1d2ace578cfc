// Elementary functions applied to arrays. The functions and their error bounds are in exp-inl.h and
// activation-inl.h.
#pragma once

#include <cstddef>

namespace sextant::fast {

enum class Elementary {
  kExp,
  kSigmoid,
  kTanh,
  kErf,
  kExpOfNegative,  // e^x with fewer operations, for x <= 0
};

// y_i = f(x_i) for float and double; y may be x.
template <class T>
void ApplyElementary(Elementary f, const T* x, T* y, size_t count) noexcept;

}  // namespace sextant::fast
