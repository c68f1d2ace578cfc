#include "reference/base/parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace sextant {
namespace {

TEST(InParallel, RunsEveryPieceOnce) {
  for (const int threads : {0, 1, 3, 64}) {
    for (const size_t count : {0, 1, 2, 1000}) {
      std::vector<int> done(count);
      InParallel(count, threads, [&](size_t i) { ++done[i]; });
      EXPECT_THAT(done, testing::Each(1)) << count << " pieces on " << threads << " threads";
    }
  }
}

// Each piece waits until the other has started: a single thread would never finish.
TEST(InParallel, RunsPiecesConcurrently) {
  std::atomic<int> started = 0;
  InParallel(2, 2, [&](size_t) {
    ++started;
    while (started < 2) std::this_thread::yield();
  });
  EXPECT_EQ(started, 2);
}

// A server calls it for ever.
TEST(InParallel, KeepsNoMemoryOfACall) {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "sanitizers keep memory of their own";
#endif
  const auto resident = [] {  // KiB
    long pages = 0;
    std::ifstream in("/proc/self/statm");
    in >> pages >> pages;
    return pages * sysconf(_SC_PAGESIZE) / 1024;
  };
  const auto call = [](int count) {
    for (int i = 0; i < count; ++i) InParallel(8, 2, [](size_t) {});
  };
  call(100);
  const long before = resident();
  call(2000);
  EXPECT_LT(resident() - before, 2000) << "a KiB for each call";
}

TEST(InParallel, RethrowsTheExceptionOfAPiece) {
  for (const int threads : {1, 4}) {
    EXPECT_THROW(InParallel(100, threads,
                            [](size_t i) {
                              if (i == 7) throw std::runtime_error("seven");
                            }),
                 std::runtime_error);
  }
}

}  // namespace
}  // namespace sextant
