// Budgets: only a random part of a large case is computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "reference/case/case.h"
#include "reference/prove/slices.h"

namespace sextant {

// A budget takes a beginning of the plan of a case (sample_plan.h), but at least the first and last
// slices of all strata.
struct Budget {
  size_t elements = 0;  // output elements to compute at most; 0: no limit
  uint64_t seed = 0;    // chooses the slices
  // Null: no limit. Asked before each further slice, from any thread, one call at a time. After
  // false no slice begins. It limits the first computation within the scope; later ones compute the
  // same slices.
  std::function<bool()> has_time = nullptr;
  size_t slices = 0;  // the part of the plan that has_time permitted; 0: not computed yet
};

// During its lifetime Prove, PermittedErrors and EvaluateByRecipe, called on this thread, compute
// only the slices that the budget takes. The same budget takes the same slices of a case. All
// numbers of an element that is left out are NaN, its radius too. Cases that cannot be cut are
// computed as a whole. With `has_time`, the scope is for one case.
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

// The part of a case that a budget takes. The same part is taken by a budget of `elements`.
struct Sample {
  size_t elements = 0, all_elements = 0;  // of all outputs of the signature
  size_t slices = 0, all_slices = 0;
  uint64_t seed = 0;
};
// Empty if the budget of this thread takes the whole case.
std::optional<Sample> SampleIn(const Case& c);

// The slices to compute, of about at most `elements` output elements each: all slices of the case,
// or those that the budget of this thread takes, in any order.
std::vector<Slice> SlicesInBudget(const Case& c, size_t elements);

// The same slices, each made when it is asked for: for whoever needs few of them.
class SlicesByIndex {
 public:
  SlicesByIndex(const Case& c, size_t elements);
  size_t size() const { return cut_ ? cut_->size() : slices_.size(); }
  Slice operator[](size_t i) const { return cut_ ? (*cut_)[i] : slices_[i]; }
  // The slice that has an element of an output, by its flat index in the whole tensor. Some slice
  // must have it.
  Slice With(const TensorSpec& output, size_t flat) const;

 private:
  const Case c_;
  std::optional<CaseCut> cut_;  // empty if the budget takes a part: slices_
  std::vector<Slice> slices_;
};

// Calls `work` for these slices on `threads` threads (0: all cores), as long as the budget has
// time. `progress`, if it is not null, gets the finished part, 0 .. 1, one call at a time.
void ForEachSliceInBudget(const Case& c, size_t elements, int threads,
                          const std::function<void(const Slice&)>& work,
                          const std::function<void(double done)>& progress);

}  // namespace sextant
