// Speed of correctly rounded tables. Counter `libm_ratio` = time of a loop over libm's sin and cos
// in double for the same angles / time of the table, both in this process. The goal is at least 6.
#include <cmath>
#include <vector>

#include "fast/kernel/kernel_bench.h"
#include "fast/rope/growing_table.h"
#include "fast/rope/rope_frequencies.h"
#include "fast/rope/rope_table.h"

namespace sextant::fast {
namespace {

template <class T>
void TableBench(benchmark::State& state, size_t positions, double base) {
  constexpr size_t kPairs = 64;
  std::vector<DoubleDouble> frequency(kPairs);
  for (size_t k = 0; k < kPairs; ++k) frequency[k] = Power(base, -static_cast<int64_t>(k), kPairs);
  std::vector<double> position(positions);
  for (size_t i = 0; i < positions; ++i) position[i] = static_cast<double>(i);
  const SkewedArray<T> cosine(positions * kPairs), sine(positions * kPairs);
  const SkewedArray<float> libm(positions * kPairs * 2);
  const auto fill = [&] {
    FillTable<T>(position, frequency, 1.0, cosine.get(), sine.get());
    benchmark::ClobberMemory();
  };
  const auto loop = [&] {
    float* to = libm.get();
    for (const double p : position) {
      for (const DoubleDouble& f : frequency) {
        *to++ = static_cast<float>(std::cos(p * f.high));
        *to++ = static_cast<float>(std::sin(p * f.high));
      }
    }
    benchmark::ClobberMemory();
  };
  state.counters["libm_ratio"] = RatioOf(loop, fill, 5);
  for (auto _ : state) fill();
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * positions * kPairs * 2));
}

constexpr auto TableF32 = TableBench<float>;
constexpr auto TableBF16 = TableBench<BF16>;
constexpr auto TableF64 = TableBench<double>;

BENCHMARK_CAPTURE(TableF32, 131072_at_1e4, 131072, 1e4);
BENCHMARK_CAPTURE(TableF32, 131072_at_5e5, 131072, 5e5);
BENCHMARK_CAPTURE(TableF32, 4096_at_1e4, 4096, 1e4);
BENCHMARK_CAPTURE(TableBF16, 131072_at_1e4, 131072, 1e4);
BENCHMARK_CAPTURE(TableF64, 4096_at_1e4, 4096, 1e4);

// Growing amplitude.
void GrowingTable(benchmark::State& state) {
  constexpr size_t kPairs = 64, kPositions = 4096;
  std::vector<double> position(kPositions);
  for (size_t i = 0; i < kPositions; ++i) position[i] = static_cast<double>(i);
  std::vector<GrowingRotation> rotations;
  for (size_t k = 0; k < kPairs; ++k) {
    const double part = static_cast<double>(k) / kPairs;
    rotations.push_back({std::pow(1e4, -part), std::log((part + 0.4) / 1.4) / 512});
  }
  std::vector<float> cosine(kPositions * kPairs), sine(cosine.size());
  for (auto _ : state) {
    FillGrowingTable<float>(position, 2048, rotations, cosine.data(), sine.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * cosine.size()));
}
BENCHMARK(GrowingTable);

}  // namespace
}  // namespace sextant::fast
