// Speed of the embedding: counter `memcpy_ratio` = time of glibc's memcpy of the same bytes / time
// of the lookup of rows of 4096 elements in an order that prefetchers cannot predict.
#include "fast/kernel/kernel_bench.h"
#include "fast/layer/embedding.h"

namespace sextant::fast {
namespace {

template <class T>
void GatherBench(benchmark::State& state, size_t bytes, double scale) {
  constexpr size_t kWidth = 4096;
  const size_t rows = bytes / 2 / sizeof(T) / kWidth;
  const SkewedArray<T> table(rows * kWidth), y(rows * kWidth);
  std::vector<int64_t> token(rows);
  for (size_t s = 0; s < rows; ++s) token[s] = static_cast<int64_t>(s * 2654435761 % rows);
  MeasureWithMemcpy(state, table.get(), y.get(), bytes, rows * kWidth, [&] {
    GatherRows<T>({table.get(), kWidth, scale}, token, y.get());
  });
}

constexpr auto EmbeddingF32 = GatherBench<float>;
constexpr auto EmbeddingBF16 = GatherBench<BF16>;

BENCHMARK_CAPTURE(EmbeddingF32, L2, size_t{256} << 10, 1);
BENCHMARK_CAPTURE(EmbeddingF32, 1GiB, size_t{1} << 30, 1);
BENCHMARK_CAPTURE(EmbeddingF32, scaled_1GiB, size_t{1} << 30, 55.5);
BENCHMARK_CAPTURE(EmbeddingBF16, scaled_L2, size_t{256} << 10, 55.5);

}  // namespace
}  // namespace sextant::fast
