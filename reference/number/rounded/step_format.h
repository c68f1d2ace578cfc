// In what a step computes. Private to this folder.
#pragma once

#include "reference/number/recipe/evaluation_context.h"

namespace sextant {

// True if the step rounds to this format and does nothing else.
inline bool RoundsTo(DType format, const StepRule& rule) {
  return rule.format == format && !rule.exact && !rule.flushes;
}

// Functions in f64 are those of the C library. All others are computed in double-double and rounded
// once.
inline bool InDouble() { return CurrentRule().format == DType::kF64 && !CurrentRule().exact; }

}  // namespace sextant
