// Measurement of kernels. Times are CPU times of the thread. Batches of the kernel and of the
// operation it is compared with alternate, and the fastest batch of each counts, so other load on
// the machine has little effect.
#pragma once

#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace sextant::fast {

// An array of normal numbers (all bytes 0x3f) that begins `skew` bytes after the start of a page. A
// processor treats a load as dependent on an earlier store if the last 12 bits of their addresses
// agree (4K aliasing). Arrays that are read and written together have skews that avoid this; in a
// real program it happens by chance.
template <class T>
class SkewedArray {
 public:
  explicit SkewedArray(size_t count, size_t skew = 0)
      : pages_(std::aligned_alloc(kPage, (count * sizeof(T) + skew + kPage - 1) / kPage * kPage)),
        data_(reinterpret_cast<T*>(static_cast<char*>(pages_) + skew)) {
    std::memset(data_, 0x3f, count * sizeof(T));
  }
  SkewedArray(const SkewedArray&) = delete;
  ~SkewedArray() { std::free(pages_); }
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

// The number of calls that take about a millisecond.
template <class Work>
size_t BatchOf(const Work& work) {
  for (size_t calls = 1;; calls *= 2) {
    const double start = ThreadSeconds();
    for (size_t i = 0; i < calls; ++i) work();
    if (ThreadSeconds() - start > 1e-3) return calls;
  }
}

// Time of a call of `baseline` / time of a call of `work`.
template <class Baseline, class Work>
double RatioOf(const Baseline& baseline, const Work& work, int rounds) {
  const size_t batches[] = {BatchOf(baseline), BatchOf(work)};
  double best[] = {1e9, 1e9};
  const auto measure = [&](int which, const auto& what) {
    const double start = ThreadSeconds();
    for (size_t i = 0; i < batches[which]; ++i) what();
    const double seconds = (ThreadSeconds() - start) / static_cast<double>(batches[which]);
    best[which] = std::min(best[which], seconds);
  };
  for (int i = 0; i < rounds; ++i) {
    measure(0, baseline);
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

// Measures `work`, which reads and writes `bytes` in total and computes `count` elements. Reports
// its time and the counter `memcpy_ratio` = time of a memcpy from `from` to `to` that also reads
// and writes `bytes` in total / time of `work`.
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
