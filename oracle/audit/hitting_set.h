// Minimum hitting set: the fewest elements such that every set contains one of them. Here: the
// fewest cases that catch all defects.
#pragma once

#include <cstddef>
#include <vector>

namespace sextant::oracle {

struct HittingSet {
  std::vector<size_t> elements;  // ascending; every set contains at least one
  size_t at_least = 0;           // lower bound of the size of every hitting set
  bool IsSmallest() const { return elements.size() == at_least; }
};

// Returns a smallest hitting set, or, if the search needs more than `steps` steps, the smallest one
// found and the lower bound known then. Precondition: each set is ascending and not empty. The
// problem is NP-hard in general; a hundred defects and some dozens of cases need only a few steps.
constexpr size_t kSteps = 10'000;
HittingSet FindHittingSet(const std::vector<std::vector<size_t>>& sets, size_t steps = kSteps);

}  // namespace sextant::oracle
