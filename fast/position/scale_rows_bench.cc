// Speed of row scaling: counter `memcpy_ratio` = time of glibc's memcpy of the same bytes / time of
// the scaling. Also the speed of tables with growing amplitude.
#include <cmath>
#include <vector>

#include "fast/kernel/kernel_bench.h"
#include "fast/position/scale_rows.h"
#include "fast/rope/growing_table.h"

namespace sextant::fast {
namespace {

template <class T>
void ScaleBench(benchmark::State& state, size_t bytes) {
  constexpr size_t kWidth = 128;
  const size_t count = bytes / 2 / sizeof(T), rows = count / kWidth;
  const SkewedArray<T> x(count), y(count);
  const std::vector<Computed<T>> factor(rows, 1.5);
  MeasureWithMemcpy(state, x.get(), y.get(), bytes, rows * kWidth,
                    [&] { ScaleRows<T>(rows, kWidth, x.get(), factor, y.get()); });
}

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

constexpr auto ScaleF32 = ScaleBench<float>;
constexpr auto ScaleBF16 = ScaleBench<BF16>;

BENCHMARK_CAPTURE(ScaleF32, L2, size_t{256} << 10);
BENCHMARK_CAPTURE(ScaleBF16, L2, size_t{256} << 10);
BENCHMARK(GrowingTable);

}  // namespace
}  // namespace sextant::fast
