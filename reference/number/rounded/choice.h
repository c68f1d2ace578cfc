// How a chosen output follows from the number that decides it: a code from a number divided by the
// scale of its block, a scale from the largest number (reference/prove/golden.h).
#pragma once

#include "reference/number/tensor/dtype.h"

namespace sextant {

enum class Choice {
  kNone,         // the output is not chosen
  kNearestEven,  // the nearest value of the type, ties to even
  kNearestAway,  // ties away from 0
  kPowerBelow,   // the largest power of two up to the number
  kPowerAbove    // the smallest power of two from the number on
};

// What `type` stores of high + low, where |low| is below half an ulp of `high`. Powers of two are
// those that the type has: beyond, its smallest or largest one. Of 0, whose logarithm is -infinity,
// the power is 0 if the type has it.
double Chosen(Choice choice, DType type, double high, double low = 0);

inline bool IsPower(Choice choice) { return choice >= Choice::kPowerBelow; }

}  // namespace sextant
