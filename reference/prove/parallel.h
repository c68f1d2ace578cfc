// Independent pieces of work on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace sextant {

// Calls work(0) .. work(count - 1), in any order, on so many threads; 0: on all cores. Of several
// exceptions one is thrown, when no piece is at work any more.
void InParallel(size_t count, int threads, const std::function<void(size_t)>& work);

}  // namespace sextant
