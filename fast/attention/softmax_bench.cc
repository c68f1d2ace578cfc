// Speed of softmax: counter `memcpy_ratio` = time of glibc's memcpy of the same bytes / time of the
// softmax.
#include "fast/attention/softmax.h"
#include "fast/kernel/kernel_bench.h"

namespace sextant::fast {
namespace {

template <class T>
void SoftmaxBench(benchmark::State& state, size_t bytes, size_t width) {
  const size_t count = bytes / 2 / sizeof(T);
  const auto row = static_cast<ptrdiff_t>(width);
  const SoftmaxRows rows{.N = count / width, .M = width, .x_row = row, .y_row = row};
  const SkewedArray<T> x(count), y(count, 2048);
  const SkewedArray<Computed<T>> scratch(width);
  for (size_t i = 0; i < count; ++i) x.get()[i] = FromDouble<T>(static_cast<double>(i % 97) / 8);
  MeasureWithMemcpy(state, x.get(), y.get(), bytes, count,
                    [&] { SoftmaxOfRows(rows, x.get(), y.get(), scratch.get()); });
}

constexpr auto SoftmaxF32 = SoftmaxBench<float>;
constexpr auto SoftmaxBF16 = SoftmaxBench<BF16>;

BENCHMARK_CAPTURE(SoftmaxF32, L2, size_t{256} << 10, 1024);
BENCHMARK_CAPTURE(SoftmaxF32, L2_short_rows, size_t{256} << 10, 128);
BENCHMARK_CAPTURE(SoftmaxF32, 1GiB, size_t{1} << 30, 4096);
BENCHMARK_CAPTURE(SoftmaxBF16, L2, size_t{256} << 10, 1024);

}  // namespace
}  // namespace sextant::fast
