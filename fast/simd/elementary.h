// Elementary functions of arrays: the vector functions of exp-inl.h and activation-inl.h, with the
// errors that are stated there.
#pragma once

#include <cstddef>

namespace sextant::fast {

enum class Elementary {
  kExp,
  kSigmoid,
  kTanh,
  kErf,
  kExpOfNegative,  // e^x by fewer operations, for x <= 0
};

// y_i = f(x_i) for float and double; y may be x.
template <class T>
void ApplyElementary(Elementary f, const T* x, T* y, size_t count) noexcept;

}  // namespace sextant::fast
