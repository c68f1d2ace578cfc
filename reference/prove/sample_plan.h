// The order in which a budget takes the slices of a case.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/case/case.h"
#include "reference/prove/slices.h"

namespace sextant {

// The slices of a case are cut along the axes on which its elements are independent. They are put
// into strata by batch and head (the letters B, H and K), neighbours together if there are many.
// The first and the last slice of every stratum come first: there an implementation has its
// special cases (one visible key, the rest of a block). The others follow in random order, one of
// each stratum in turn, so that every beginning of the plan is spread evenly over the strata.
struct SamplePlan {
  std::vector<Slice> slices;  // together they are the whole case
  size_t always = 0;          // the number of first and last slices
};

// At most kMostPlanned slices. If an axis must be cut into fewer parts than it has indices, its
// first and last parts have one index each.
inline constexpr size_t kMostPlanned = 4096;
SamplePlan PlanOf(const Case& c, uint64_t seed);

}  // namespace sextant
