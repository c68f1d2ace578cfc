// The numbers of CountedLanes (counted_lanes.h) in arrays, and the functions of vectors that
// compute them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/number/counted/counted_numbers.h"
#include "reference/number/recipe/recipe.h"

namespace sextant {

inline constexpr size_t kLaneCount = 64;

// Members of Counted.
struct LaneArrays {
  alignas(64) double high[kLaneCount], low[kLaneCount];  // the centre
  alignas(64) double error[kLaneCount], likely[kLaneCount], drift[kLaneCount];
};

// An operand of a step.
struct LaneOperand {
  const LaneArrays& numbers;
  bool are_values;  // converting them to the format of the step changes nothing
};

// A rule that does not flush.
struct LaneRule {
  explicit LaneRule(const StepRule& of);

  const StepRule& rule;
  bool level_1 = false;               // the centres of functions may be doubles
  OrdinaryRange ordinary;             // of magnitudes that are rounded
  double least_normal = 0;            // the magnitudes from here ...
  double largest_binade = kInfinity;  // ... to below here are normal numbers
  uint64_t dropped_bits = 0;          // of a double that is not a value of the format
};

// Each computes the numbers y and returns the lanes, as bits, in which y is right: it has the bits
// of the operation of Counted.
uint64_t AddLanes(const LaneRule& rule, const LaneOperand& a, const LaneOperand& b, LaneArrays& y);
uint64_t MultiplyLanes(const LaneRule& rule, const LaneOperand& a, const LaneOperand& b,
                       LaneArrays& y);
uint64_t ConvertLanes(const LaneRule& rule, const LaneOperand& a, LaneArrays& y);
uint64_t TanhLanes(const LaneRule& rule, const LaneOperand& a, LaneArrays& y);
uint64_t SigmoidLanes(const LaneRule& rule, const LaneOperand& a, LaneArrays& y);
uint64_t ErfLanes(const LaneRule& rule, const LaneOperand& a, LaneArrays& y);
uint64_t ErfcLanes(const LaneRule& rule, const LaneOperand& a, LaneArrays& y);

// The lanes that Clamp computes; of these, those that it sets to `low` and to `high`.
struct ClampedLanes {
  uint64_t right, low, high;
};
ClampedLanes ClampLanes(const LaneArrays& x, const LaneArrays& low, const LaneArrays& high,
                        LaneArrays& y);

}  // namespace sextant
