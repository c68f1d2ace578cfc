#include "reference/number/recipe/in_parallel_here.h"

#include <mutex>
#include <utility>

#include "reference/base/parallel.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant {
namespace {

constinit thread_local int threads_here = 1;

// Gives this thread another context, until the end of the scope.
class ScopedContext {
 public:
  explicit ScopedContext(const EvaluationContext& context)
      : before_(std::exchange(this_context, context)) {}
  ~ScopedContext() { this_context = before_; }
  ScopedContext(const ScopedContext&) = delete;
  ScopedContext& operator=(const ScopedContext&) = delete;

 private:
  EvaluationContext before_;
};

}  // namespace

ScopedThreads::ScopedThreads(int threads)
    : before_(std::exchange(threads_here, threads > 0 ? threads : AllCores())) {}
ScopedThreads::~ScopedThreads() { threads_here = before_; }

int ThreadsHere() { return threads_here; }

void InParallelHere(size_t count, const std::function<void(size_t)>& work) {
  if (threads_here == 1 || count <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  const EvaluationContext context = this_context;
  // The members of the context that formulas change, as changed by any call.
  unsigned steps_performed = context.steps_performed;
  bool uncertain = context.uncertain;
  std::mutex mutex;
  InParallel(count, threads_here, [&](size_t i) {
    const ScopedContext of_caller(context);
    const ScopedThreads alone(1);
    work(i);
    const std::lock_guard lock(mutex);
    steps_performed |= this_context.steps_performed;
    uncertain = uncertain || this_context.uncertain;
  });
  this_context.steps_performed = steps_performed;
  this_context.uncertain = uncertain;
}

}  // namespace sextant
