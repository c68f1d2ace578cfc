// Speed of the residual addition with RMSNorm: counter `memcpy_ratio` = time of glibc's memcpy of
// the same bytes / time of the kernel.
#include "fast/kernel/kernel_bench.h"
#include "fast/layer/add_rms_norm.h"

namespace sextant::fast {
namespace {

template <class T>
void AddBench(benchmark::State& state, size_t bytes) {
  constexpr size_t kWidth = 4096;
  const size_t count = bytes / 4 / sizeof(T);
  const AddedRows rows{.N = count / kWidth, .M = kWidth};
  const SkewedArray<T> in(2 * count), out(2 * count);  // x and residual, y and sum
  const SkewedArray<Computed<T>> weight(kWidth);
  MeasureWithMemcpy(state, in.get(), out.get(), bytes, count, [&] {
    AddAndNormalizeRows(rows, in.get(), in.get() + count, weight.get(),
                        AddedOutputs<T>{out.get(), out.get() + count});
  });
}

constexpr auto AddRmsNormF32 = AddBench<float>;
constexpr auto AddRmsNormBF16 = AddBench<BF16>;

BENCHMARK_CAPTURE(AddRmsNormF32, L2, size_t{256} << 10);
BENCHMARK_CAPTURE(AddRmsNormF32, 1GiB, size_t{1} << 30);
BENCHMARK_CAPTURE(AddRmsNormBF16, L2, size_t{256} << 10);

}  // namespace
}  // namespace sextant::fast
