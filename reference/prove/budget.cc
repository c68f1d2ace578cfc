#include "reference/prove/budget.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "reference/base/parallel.h"
#include "reference/number/recipe/in_parallel_here.h"
#include "reference/prove/sample_plan.h"

namespace sextant {
namespace {

thread_local Budget this_budget;

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

// The number of slices of the plan that the budget takes, apart from its time.
size_t CountIn(const Budget& budget, const Case& c, const SamplePlan& plan) {
  size_t most = plan.slices.size();
  if (budget.slices > 0) most = std::min(most, budget.slices);
  if (budget.elements == 0) return most;
  size_t count = 0, left = budget.elements;
  while (count < most) {
    const size_t elements = ElementsIn(c, plan.slices[count]);
    if (elements > left && count >= plan.always) break;
    left -= std::min(elements, left);
    ++count;
  }
  return count;
}

// True if the budget takes the whole case, whatever the plan is.
bool TakesAll(const Budget& budget, const Case& c) {
  const bool enough = budget.elements == 0 || ElementsIn(c, {}) <= budget.elements;
  return enough && budget.slices == 0;
}

// Calls work(slice, most) for slices of the plan while there is time, at most for `most`; returns
// their number.
template <class Work>
size_t TakeWhileThereIsTime(const Budget& budget, const Case& c, int threads, Work work) {
  const SamplePlan plan = PlanOf(c, budget.seed);
  const size_t most = CountIn(budget, c, plan);
  std::mutex mutex;
  size_t taken = 0;
  bool has_time = true;
  // The slices that are taken are a beginning of the plan, in whatever order the calls are made.
  InParallel(most, threads, [&](size_t) {
    size_t i = 0;
    {
      const std::lock_guard lock(mutex);
      if (taken >= plan.always) has_time = has_time && budget.has_time();
      if (!has_time) return;
      i = taken++;
    }
    const ScopedThreads inside(most == 1 ? threads : 1);
    work(plan.slices[i], static_cast<double>(most));
  });
  return taken;
}

}  // namespace

ScopedBudget::ScopedBudget(const Budget& budget) : before_(std::exchange(this_budget, budget)) {}
ScopedBudget::~ScopedBudget() { this_budget = std::move(before_); }

const Budget& CurrentBudget() { return this_budget; }

bool HasBudget() { return this_budget.elements > 0 || this_budget.has_time; }

std::optional<Sample> SampleIn(const Case& c) {
  if (TakesAll(this_budget, c)) return std::nullopt;
  const SamplePlan plan = PlanOf(c, this_budget.seed);
  const size_t count = CountIn(this_budget, c, plan);
  if (count == plan.slices.size()) return std::nullopt;
  Sample sample{.all_elements = ElementsIn(c, {}),
                .slices = count,
                .all_slices = plan.slices.size(),
                .seed = this_budget.seed};
  for (size_t i = 0; i < count; ++i) sample.elements += ElementsIn(c, plan.slices[i]);
  return sample;
}

SlicesByIndex::SlicesByIndex(const Case& c, size_t elements) : c_(c) {
  if (TakesAll(this_budget, c)) {
    cut_.emplace(c, elements);
    return;
  }
  const SamplePlan plan = PlanOf(c, this_budget.seed);
  const size_t count = CountIn(this_budget, c, plan);
  if (count == plan.slices.size()) {
    cut_.emplace(c, elements);
    return;
  }
  for (size_t i = 0; i < count; ++i) AddCut(c, plan.slices[i], elements, slices_);
}

Slice SlicesByIndex::With(const TensorSpec& output, size_t flat) const {
  if (cut_) return cut_->With(output, flat);
  const Shape shape = c_.ShapeOf(output);
  return *std::ranges::find_if(slices_, [&](const Slice& slice) {
    return std::ranges::any_of(RunsIn(shape, output, slice), [&](const Run& run) {
      return run.first <= flat && flat - run.first < run.count;
    });
  });
}

std::vector<Slice> SlicesInBudget(const Case& c, size_t elements) {
  const SlicesByIndex by_index(c, elements);
  std::vector<Slice> slices(by_index.size());
  for (size_t i = 0; i < slices.size(); ++i) slices[i] = by_index[i];
  return slices;
}

void ForEachSliceInBudget(const Case& c, size_t elements, int threads,
                          const std::function<void(const Slice&)>& work,
                          const std::function<void(double done)>& progress) {
  std::mutex mutex;
  size_t done = 0;
  const auto count = [&](double all) {
    if (!progress) return;
    const std::lock_guard lock(mutex);
    progress(static_cast<double>(++done) / all);
  };
  if (this_budget.has_time && this_budget.slices == 0) {
    this_budget.slices =
        TakeWhileThereIsTime(this_budget, c, threads, [&](const Slice& slice, double all) {
          std::vector<Slice> parts;
          AddCut(c, slice, elements, parts);
          for (const Slice& part : parts) work(part);
          count(all);
        });
    return;
  }
  const std::vector<Slice> slices = SlicesInBudget(c, elements);
  InParallel(slices.size(), threads, [&](size_t i) {
    const ScopedThreads inside(slices.size() == 1 ? threads : 1);  // a formula may use all
    work(slices[i]);
    count(static_cast<double>(slices.size()));
  });
}

}  // namespace sextant
