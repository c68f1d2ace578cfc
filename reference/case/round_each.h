// Rounds drawn numbers to the dtype of their tensor.
#pragma once

#include <cmath>
#include <span>

#include "reference/number/tensor/dtype.h"

namespace sextant {

// To nearest; for integers, to those below.
inline void RoundEach(DType type, std::span<double> numbers) {
  if (type == DType::kF32) {  // as the processor rounds
    for (double& x : numbers) x = static_cast<double>(static_cast<float>(x));
  } else if (type == DType::kI64) {
    for (double& x : numbers) x = std::floor(x);
  } else {
    for (double& x : numbers) x = RoundTo(type, x);
  }
}

}  // namespace sextant
