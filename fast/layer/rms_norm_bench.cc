// Speed of RMSNorm: counter `memcpy_ratio` = time of glibc's memcpy of the same bytes / time of the
// norm.
#include "fast/kernel/kernel_bench.h"
#include "fast/layer/rms_norm.h"

namespace sextant::fast {
namespace {

template <class T>
void NormBench(benchmark::State& state, size_t bytes) {
  constexpr size_t kWidth = 4096;
  const size_t count = bytes / 2 / sizeof(T);
  const Rows rows{.N = count / kWidth, .M = kWidth, .x_row = kWidth, .y_row = kWidth};
  const SkewedArray<T> x(count), y(count);
  const SkewedArray<Computed<T>> weight(kWidth);
  MeasureWithMemcpy(state, x.get(), y.get(), bytes, count,
                    [&] { NormalizeRows(rows, x.get(), weight.get(), y.get()); });
}

constexpr auto RmsNormF32 = NormBench<float>;
constexpr auto RmsNormBF16 = NormBench<BF16>;

BENCHMARK_CAPTURE(RmsNormF32, L2, size_t{256} << 10);
BENCHMARK_CAPTURE(RmsNormF32, 1GiB, size_t{1} << 30);
BENCHMARK_CAPTURE(RmsNormBF16, L2, size_t{256} << 10);

}  // namespace
}  // namespace sextant::fast
