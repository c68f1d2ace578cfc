// Two threads of one process beside two processes with one thread each, for cases that are larger
// than the caches of a core: counter `of_two_processes` = cases in the time of a case of the former
// / of the latter.
#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <new>

#include "fast/kernel/kernel.h"
#include "fast/kernel/kernel_bench.h"
#include "reference/case/draw.h"
#include "reference/number/recipe/in_parallel_here.h"

namespace sextant::fast {
namespace {

double Seconds() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class Work>
double SecondsOf(const Work& work, size_t calls) {
  const double start = Seconds();
  for (size_t i = 0; i < calls; ++i) work();
  return Seconds() - start;
}

// The seconds of `calls` calls in each of two processes that begin together.
template <class Work>
double SecondsOfTwoProcesses(const Work& work, size_t calls) {
  struct Shared {
    std::atomic<int> ready = 0;
    double seconds = 0;
  };
  void* const memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Shared& shared = *new (memory) Shared();
  const auto measure = [&] {
    work();
    ++shared.ready;
    while (shared.ready < 2) {
    }
    return SecondsOf(work, calls);
  };
  const pid_t child = fork();
  if (child < 0) std::abort();
  if (child == 0) {
    shared.seconds = measure();
    _exit(0);
  }
  double seconds = measure();
  waitpid(child, nullptr, 0);
  seconds = std::max(seconds, shared.seconds);
  munmap(memory, sizeof(Shared));
  return seconds;
}

void TwoThreads(benchmark::State& state, const char* line) {
  const Case c = Case::Parse(line);
  const Tensors drawn = DrawInputs(c);
  const StoredTensors inputs(drawn.begin(), drawn.end());
  const CaseKernel& kernel = KernelOf(c.name());
  // Freed memory stays with the process: the first touch of a page is not measured.
  const auto keep_memory = [](bool keeps) {
    mallopt(M_MMAP_MAX, keeps ? 0 : 65536);  // glibc's defaults
    mallopt(M_TRIM_THRESHOLD, keeps ? INT_MAX : 128 << 10);
  };
  keep_memory(true);
  const auto run = [&] { benchmark::DoNotOptimize(kernel.run(c, inputs)); };
  const auto on_two = [&] {
    const ScopedThreads two(2);
    run();
  };
  on_two();
  const size_t calls = 1 + static_cast<size_t>(0.2 / SecondsOf(run, 1));
  double processes = 1e9, threads = 1e9;
  for (int round = 0; round < 5; ++round) {
    processes = std::min(processes, SecondsOfTwoProcesses(run, calls));
    threads = std::min(threads, SecondsOf(on_two, 2 * calls));
  }
  state.counters["of_two_processes"] = processes / threads;
  for (auto _ : state) on_two();
  keep_memory(false);
}

#define SEXTANT_TWO_THREADS(name, line)     \
  BENCHMARK_CAPTURE(TwoThreads, name, line) \
      ->Iterations(5)                       \
      ->Unit(benchmark::kMillisecond)       \
      ->UseRealTime()

SEXTANT_TWO_THREADS(rms_norm, "rms_norm N=4096 M=4096");
SEXTANT_TWO_THREADS(rms_norm_bf16, "rms_norm N=8192 M=4096 dtype=bf16");
SEXTANT_TWO_THREADS(add_rms_norm, "add_rms_norm N=2048 M=4096");
SEXTANT_TWO_THREADS(softmax, "softmax N=4096 M=4096");
SEXTANT_TWO_THREADS(gated, "gated kind=swiglu N=2048 F=8192");
SEXTANT_TWO_THREADS(activation, "activation kind=gelu N=2048 F=8192");
SEXTANT_TWO_THREADS(rope, "rope pairing=half H=32 S=2048 D=128");
SEXTANT_TWO_THREADS(rope_bf16, "rope pairing=half H=32 S=4096 D=128 dtype=bf16");
SEXTANT_TWO_THREADS(rope_table, "rope_table S=131072 R=128");
SEXTANT_TWO_THREADS(embedding, "embedding S=8192 V=1000 M=4096");
SEXTANT_TWO_THREADS(alibi, "alibi H=32 S=1024 T=1024");
SEXTANT_TWO_THREADS(relative_bias, "relative_bias bidirectional=true P=32 H=32 S=1024 T=1024");
SEXTANT_TWO_THREADS(quantize, "quantize N=8192 A=1 G=32 M=128 dtype=bf16");
SEXTANT_TWO_THREADS(linear, "linear N=256 F=2048 M=2048");
SEXTANT_TWO_THREADS(linear_bf16, "linear N=256 F=2048 M=2048 dtype=bf16");
SEXTANT_TWO_THREADS(linear_one_row, "linear N=1 F=8192 M=8192");
SEXTANT_TWO_THREADS(attention, "attention H=8 S=1024 T=1024 D=128 mask=causal");
SEXTANT_TWO_THREADS(attention_shared_key, "attention H=8 K=1 S=1024 T=1024 D=128 mask=causal");
SEXTANT_TWO_THREADS(decoding, "attention H=8 S=1 T=65536 D=128");
SEXTANT_TWO_THREADS(feed_forward, "feed_forward kind=swiglu N=128 M=2048 F=8192 dtype=bf16");
SEXTANT_TWO_THREADS(decoder_block,
                    "decoder_block pairing=half S=256 M=1024 H=16 K=4 D=64 F=4096 dtype=bf16");

}  // namespace
}  // namespace sextant::fast
