#include "reference/base/parallel.h"

#include <algorithm>

#if defined(__SANITIZE_THREAD__)
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>
#else
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <map>
#include <mutex>
#endif

namespace sextant {

#if defined(__SANITIZE_THREAD__)
// Debian's TBB is not built with ThreadSanitizer, which therefore cannot see its synchronization.
// This version uses std::jthread instead.
int AllCores() { return 4; }

void InParallel(size_t count, int threads, const std::function<void(size_t)>& work) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr thrown;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard lock(mutex);
        thrown = std::current_exception();
        next = count;
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (int t = 1; t < (threads > 0 ? threads : AllCores()); ++t) others.emplace_back(run);
    run();
  }
  if (thrown) std::rethrow_exception(thrown);
}
#else
namespace {

// One for each number of threads, never destroyed: TBB 2021.8 keeps 7 kB of every arena that was.
tbb::task_arena& ArenaOf(int threads) {
  static std::mutex mutex;
  static auto& arenas = *new std::map<int, tbb::task_arena>();
  const std::lock_guard lock(mutex);
  return arenas.try_emplace(threads, threads).first->second;
}

}  // namespace

int AllCores() { return tbb::info::default_concurrency(); }

void InParallel(size_t count, int threads, const std::function<void(size_t)>& work) {
  const int cores = AllCores();
  if (threads <= 0) threads = cores;
  if (threads == 1 || count <= 1) {
    for (size_t i = 0; i < count; ++i) work(i);
    return;
  }
  // Permits more threads than cores; without it TBB prints a warning to stderr. It applies to the
  // whole process, so it never lowers what others may use.
  const tbb::global_control allowed(tbb::global_control::max_allowed_parallelism,
                                    static_cast<size_t>(std::max(threads, cores)));
  // Isolated: while it waits, a thread takes no piece of another call, which has another context.
  ArenaOf(threads).execute(
      [&] { tbb::this_task_arena::isolate([&] { tbb::parallel_for(size_t{0}, count, work); }); });
}
#endif

}  // namespace sextant
