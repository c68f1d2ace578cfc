// Declarations shared by the scalings of rotary frequencies.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "reference/base/error.h"
#include "reference/number/clamp.h"

namespace sextant {

// The inputs of a scaling besides its parameters.
struct RotarySetting {
  double base = 10000;
  int64_t R = 0;                     // rotary width; pairs are k = 0 .. R/2-1
  std::optional<int64_t> seq_len{};  // tokens of the sequence; unset: the trained context
};

inline void ExpectAboveZero(std::string_view scaling, std::string_view name, double value) {
  if (!(value > 0)) throw Error(scaling, ": ", name, " is ", value, ", expected more than 0");
}

}  // namespace sextant
