// Speed of the rotation relative to glibc's memcpy of the same bytes, measured in the same process:
// counter `memcpy_ratio` = time of memcpy / time of the rotation.
#include "fast/kernel/kernel_bench.h"
#include "fast/rope/rope_rotate.h"

namespace sextant::fast {
namespace {

constexpr size_t kL2 = size_t{256} << 10, kHuge = size_t{1} << 30;  // bytes of x and y together

template <class T, class Table>
void RotateBench(benchmark::State& state, Pairing pairing, size_t bytes) {
  const size_t count = bytes / 2 / sizeof(T);
  Rotation r{.H = 8, .D = 128, .R = 128, .pairing = pairing};
  r.S = count / r.D / r.H;
  const SkewedArray<T> x(count), y(count);
  const SkewedArray<Table> table(r.S * r.R, 2112);
  const RotaryTable<Table> t = DenseTable(r, table.get(), table.get() + r.S * r.R / 2);
  const Heads<T> from = Dense(r, x.get()), to = Dense(r, y.get());
  const Heads<const T> source{from.data, from.batch, from.head, from.row};
  MeasureWithMemcpy(state, x.get(), y.get(), bytes, count,
                    [&] { Rotate<T, Table>(r, source, t, to); });
}

constexpr auto RopeF32 = RotateBench<float, float>;
constexpr auto RopeBF16ByF32 = RotateBench<BF16, float>;
constexpr auto RopeBF16ByBF16 = RotateBench<BF16, BF16>;
constexpr auto RopeF16ByF32 = RotateBench<F16, float>;

BENCHMARK_CAPTURE(RopeF32, half_L2, Pairing::kHalf, kL2);
BENCHMARK_CAPTURE(RopeF32, interleaved_L2, Pairing::kInterleaved, kL2);
BENCHMARK_CAPTURE(RopeBF16ByF32, half_L2, Pairing::kHalf, kL2);
BENCHMARK_CAPTURE(RopeBF16ByF32, interleaved_L2, Pairing::kInterleaved, kL2);
BENCHMARK_CAPTURE(RopeBF16ByBF16, half_L2, Pairing::kHalf, kL2);
BENCHMARK_CAPTURE(RopeF16ByF32, half_L2, Pairing::kHalf, kL2);
BENCHMARK_CAPTURE(RopeF16ByF32, interleaved_L2, Pairing::kInterleaved, kL2);
BENCHMARK_CAPTURE(RopeF32, half_1GiB, Pairing::kHalf, kHuge);
BENCHMARK_CAPTURE(RopeF32, interleaved_1GiB, Pairing::kInterleaved, kHuge);
BENCHMARK_CAPTURE(RopeBF16ByF32, half_1GiB, Pairing::kHalf, kHuge);

}  // namespace
}  // namespace sextant::fast
