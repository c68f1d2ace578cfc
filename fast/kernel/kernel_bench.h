// How benchmarks of kernels measure: in processor time of the thread, work and yardstick
// alternating in short batches, the fastest of each; so that other load on the machine hardly
// matters.
#pragma once

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace sextant::fast {

// Ordinary numbers (all bytes 0x3f), `skew` bytes after the start of a
// page. Where a load follows a store to an address that agrees in its last 12 bits, a processor
// takes it for dependent: arrays that are read and written together get skews that do not make it
// so; in a program that is luck.
template <class T>
class Lines {
 public:
  explicit Lines(size_t count, size_t skew = 0)
      : pages_(std::aligned_alloc(kPage, (count * sizeof(T) + skew + kPage - 1) / kPage * kPage)),
        data_(reinterpret_cast<T*>(static_cast<char*>(pages_) + skew)) {
    std::memset(data_, 0x3f, count * sizeof(T));
  }
  Lines(const Lines&) = delete;
  ~Lines() { std::free(pages_); }
  T* get() const { return data_; }

 private:
  static constexpr size_t kPage = 4096;
  void* pages_;
  T* data_;
};

inline double ThreadSeconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Calls that take about a millisecond.
template <class Work>
size_t BatchOf(const Work& work) {
  for (size_t calls = 1;; calls *= 2) {
    const double start = ThreadSeconds();
    for (size_t i = 0; i < calls; ++i) work();
    if (ThreadSeconds() - start > 1e-3) return calls;
  }
}

// Time of `yardstick` / time of `work`, per call.
template <class Yardstick, class Work>
double RatioOf(const Yardstick& yardstick, const Work& work, int rounds) {
  const size_t batches[] = {BatchOf(yardstick), BatchOf(work)};
  double best[] = {1e9, 1e9};
  const auto measure = [&](int which, const auto& what) {
    const double start = ThreadSeconds();
    for (size_t i = 0; i < batches[which]; ++i) what();
    const double seconds = (ThreadSeconds() - start) / static_cast<double>(batches[which]);
    best[which] = std::min(best[which], seconds);
  };
  for (int i = 0; i < rounds; ++i) {
    measure(0, yardstick);
    measure(1, work);
  }
  return best[0] / best[1];
}

// Time of glibc's memcpy from `from` to `to` / time of `work`.
template <class Work>
double MemcpyRatio(const void* from, void* to, size_t bytes, const Work& work) {
  const auto copy = [&] {
    std::memcpy(to, from, bytes);
    benchmark::ClobberMemory();
  };
  return RatioOf(copy, work, bytes > (size_t{64} << 20) ? 7 : 200);
}

// Measures `work`, which reads and writes `bytes` in all and answers `count` elements: its time,
// and the counter `memcpy_ratio` = time of a memcpy from `from` to `to` of as many bytes / its
// time.
template <class Work>
void MeasureWithMemcpy(benchmark::State& state, const void* from, void* to, size_t bytes,
                       size_t count, const Work& work) {
  const auto run = [&] {
    work();
    benchmark::ClobberMemory();
  };
  state.counters["memcpy_ratio"] = MemcpyRatio(from, to, bytes / 2, run);
  for (auto _ : state) run();
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * count));
}

}  // namespace sextant::fast
