// Independent pieces of work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace sextant {

// Calls work(0) .. work(count - 1) in any order on `threads` threads; 0: on all cores. If calls
// throw, it rethrows one of the exceptions after all running calls have ended.
void InParallel(size_t count, int threads, const std::function<void(size_t)>& work);

// The number of threads of InParallel if it is called with 0.
int AllCores();

}  // namespace sextant
