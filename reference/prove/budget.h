// Budgets: only a random part of a large case is computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/case/case.h"
#include "reference/prove/slices.h"

namespace sextant {

struct Budget {
  size_t elements = 0;  // output elements to compute at most, but at least one slice; 0: all
  uint64_t seed = 0;    // chooses the slices
};

// During its lifetime Prove, PermittedErrors and EvaluateByRecipe, called on this thread, compute
// only the slices that the budget chooses. The same budget chooses the same slices of a case. All
// numbers of an element that is left out are NaN, its radius too. Cases that cannot be cut are
// computed as a whole.
class ScopedBudget {
 public:
  explicit ScopedBudget(const Budget& budget);
  ~ScopedBudget();
  ScopedBudget(const ScopedBudget&) = delete;
  ScopedBudget& operator=(const ScopedBudget&) = delete;

 private:
  Budget before_;
};

const Budget& CurrentBudget();  // of this thread
bool HasBudget();               // true if it limits this thread

// The slices to compute, of about at most `elements` output elements each: all slices of the case,
// or those that the budget of this thread chooses, in their order.
std::vector<Slice> SlicesInBudget(const Case& c, size_t elements);

}  // namespace sextant
