// The fewest elements that meet every one of some sets: which cases suffice to catch all defects.
#pragma once

#include <cstddef>
#include <vector>

namespace sextant::oracle {

struct HittingSet {
  std::vector<size_t> elements;  // ascending; each of the sets has one of them
  size_t at_least = 0;           // so many are needed by any choice
  bool IsSmallest() const { return elements.size() == at_least; }
};

// Exact unless it takes more than so many steps: the smallest then found, and what it is known that
// any choice needs. Each set is ascending and not empty. The problem is NP-hard in general; that of
// a hundred defects and some dozens of cases takes a few steps.
constexpr size_t kSteps = 10'000;
HittingSet FindHittingSet(const std::vector<std::vector<size_t>>& sets, size_t steps = kSteps);

}  // namespace sextant::oracle
