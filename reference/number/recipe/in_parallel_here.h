// Loops inside a formula that may use several threads. Slices are usually evaluated in parallel,
// and the formula of a slice by one thread. If a case has one slice only (blocks have no slices),
// its formula may use the threads of the case.
#pragma once

#include <cstddef>
#include <functional>

namespace sextant {

// During its lifetime InParallelHere, called on this thread, uses `threads` threads; 0: all cores.
// Without it, and inside the calls of `work`, it uses one.
class ScopedThreads {
 public:
  explicit ScopedThreads(int threads);
  ~ScopedThreads();
  ScopedThreads(const ScopedThreads&) = delete;
  ScopedThreads& operator=(const ScopedThreads&) = delete;

 private:
  int before_;
};

// The number of threads of InParallelHere, called on this thread.
int ThreadsHere();

// Calls work(0) .. work(count - 1) in any order, each in the caller's context of evaluation
// (evaluation_context.h). The calls must not write the same numbers. Rethrows as InParallel.
void InParallelHere(size_t count, const std::function<void(size_t)>& work);

}  // namespace sextant
