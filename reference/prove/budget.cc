#include "reference/prove/budget.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "reference/base/splitmix64.h"

namespace sextant {
namespace {

// A budget is spread over this many slices, and a case is cut into this many at most.
constexpr size_t kSpread = 64, kMostSlices = size_t{1} << 16;

constinit thread_local Budget this_budget{};

// The output elements in a slice.
size_t ElementsIn(const Case& c, const Slice& slice) {
  size_t count = 0;
  for (const TensorSpec& spec : c.info().signature.outputs)
    count += CountOf(ShapeIn(c.ShapeOf(spec), spec, slice));
  return count;
}

// Adds the slice, cut into parts of at most `elements` output elements where that is possible.
void AddCut(const Case& c, const Slice& slice, size_t elements, std::vector<Slice>& slices) {
  const auto halves = ElementsIn(c, slice) > elements ? Halve(c, slice) : std::nullopt;
  if (!halves) return slices.push_back(slice);
  AddCut(c, halves->first, elements, slices);
  AddCut(c, halves->second, elements, slices);
}

}  // namespace

ScopedBudget::ScopedBudget(const Budget& budget) : before_(std::exchange(this_budget, budget)) {}
ScopedBudget::~ScopedBudget() { this_budget = before_; }

const Budget& CurrentBudget() { return this_budget; }

bool HasBudget() { return this_budget.elements > 0; }

std::vector<Slice> SlicesInBudget(const Case& c, size_t elements) {
  if (!HasBudget() || ElementsIn(c, {}) <= this_budget.elements) return CutCase(c, elements);
  // The choice depends on the budget alone, not on `elements`.
  const size_t finest = ElementsIn(c, {}) / kMostSlices + 1;
  const std::vector<Slice> all = CutCase(c, std::max(finest, this_budget.elements / kSpread));
  std::vector<size_t> order(all.size()), chosen;
  std::iota(order.begin(), order.end(), size_t{0});
  SplitMix64 random(this_budget.seed);
  size_t left = this_budget.elements;
  for (size_t i = 0; i < order.size(); ++i) {
    std::swap(order[i], order[i + random.Below(order.size() - i)]);
    const size_t count = ElementsIn(c, all[order[i]]);
    if (count > left && !chosen.empty()) break;
    chosen.push_back(order[i]);
    left -= std::min(count, left);
  }
  std::ranges::sort(chosen);
  std::vector<Slice> slices;
  for (const size_t i : chosen) AddCut(c, all[i], elements, slices);
  return slices;
}

}  // namespace sextant
