#include "oracle/catalog/first_causes.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "reference/number/recipe/in_parallel_here.h"
#include "reference/prove/budget.h"

namespace sextant::oracle {

std::vector<Cause> FirstCauses(size_t count, const ProveOptions& options,
                               const CausesOfQuestion& causes_of) {
  std::mutex mutex;
  ProveOptions here = options;
  here.threads = 1;
  if (options.progress) {
    here.progress = [&](double done) {
      const std::lock_guard lock(mutex);
      options.progress(done);
    };
  }
  const Budget budget = CurrentBudget();
  std::atomic<size_t> first = count;
  std::vector<std::vector<Cause>> causes(count);
  const ScopedThreads several(options.threads);
  InParallelHere(count, [&](size_t i) {
    if (i > first) return;
    const ScopedBudget of_caller(budget);
    causes[i] = causes_of(i, here);
    if (causes[i].empty()) return;
    for (size_t before = first; i < before && !first.compare_exchange_weak(before, i);) {
    }
  });
  return first < count ? std::move(causes[first]) : std::vector<Cause>();
}

}  // namespace sextant::oracle
