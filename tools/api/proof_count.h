// Counts the proven elements of a golden.
#pragma once

#include <cstddef>
#include <vector>

#include "reference/prove/golden.h"

namespace sextant::tools {

struct ProofCount {  // numbers of elements
  size_t proven = 0, enclosed = 0, unspecified = 0;

  ProofCount& operator+=(const ProofCount& other) {
    proven += other.proven;
    enclosed += other.enclosed;
    unspecified += other.unspecified;
    return *this;
  }
  size_t elements() const { return proven + enclosed + unspecified; }
  // True if no element is only enclosed, and not every element is unspecified.
  bool IsComplete() const { return enclosed == 0 && (proven > 0 || unspecified == 0); }
};
ProofCount CountProofs(const std::vector<GoldenTensor>& golden);

}  // namespace sextant::tools
