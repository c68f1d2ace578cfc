// How much of a golden is proven.
#pragma once

#include <cstddef>
#include <vector>

#include "reference/prove/golden.h"

namespace sextant::tools {

// In elements.
struct ProofCount {
  size_t proven = 0, enclosed = 0, unspecified = 0;

  size_t elements() const { return proven + enclosed + unspecified; }
  // Nothing was left undecided, and something was proven unless there was nothing to prove.
  bool IsComplete() const { return enclosed == 0 && (proven > 0 || unspecified == 0); }
};
ProofCount CountProofs(const std::vector<GoldenTensor>& golden);

}  // namespace sextant::tools
