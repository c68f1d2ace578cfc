// Speed of attention: counter `peak_ratio` = time of the same number of fused multiply-adds in
// registers only / time of attention. Products of masked keys and exponentials are not counted.
// Decoding reads much and computes little: `memcpy_ratio` = time of glibc's memcpy that reads and
// writes as many bytes as keys and values have / time of attention.
#include <vector>

#include "fast/attention/attend.h"
#include "fast/kernel/peak_bench.h"

namespace sextant::fast {
namespace {

struct Setting {
  int64_t heads, key_heads, queries, keys;
  int64_t window = -1;
  bool bias = false, sink = false;
};

AttentionAttributes AttributesOf(const Setting& setting) {
  AttentionAttributes op;
  op.B.value = 1;
  op.H.value = setting.heads;
  op.K.value = setting.key_heads;
  op.S.value = setting.queries;
  op.T.value = setting.keys;
  op.mask = Mask::kCausal;
  if (setting.window >= 0) op.window = {setting.window, 0};
  return op;
}

// The number of products of a query with a key or a value, without masked keys.
double ProductsOf(const AttentionAttributes& op) {
  double seen = 0;
  for (size_t s = 0; s < static_cast<size_t>(op.S.value); ++s)
    seen += static_cast<double>(op.KeysOf(0, s).size());
  return 2 * seen * static_cast<double>(op.H.value);
}

template <class T>
void AttentionBench(benchmark::State& state, const Setting& setting) {
  constexpr size_t kWidth = 128;
  const AttentionAttributes op = AttributesOf(setting);
  const auto rows = static_cast<size_t>(setting.heads * setting.queries),
             keys = static_cast<size_t>(setting.key_heads * setting.keys);
  const SkewedArray<T> q(rows * kWidth), k(keys * kWidth), v(keys * kWidth), y(rows * kWidth),
      bias(setting.bias ? rows * static_cast<size_t>(setting.keys) : 1);
  const SkewedArray<Computed<T>> sink(static_cast<size_t>(setting.heads));
  const AttendInputs<T> in{.attributes = &op,
                           .D = kWidth,
                           .E = kWidth,
                           .q = q.get(),
                           .k = k.get(),
                           .v = v.get(),
                           .bias = setting.bias ? bias.get() : nullptr,
                           .sink = setting.sink ? sink.get() : nullptr,
                           .scale = 0x1.6a09e6p-4};  // 128^-1/2
  std::vector<Computed<T>> lse(rows);
  const auto attend = [&] {
    Attend(in, y.get(), lse.data());
    benchmark::ClobberMemory();
  };
  if (setting.queries > 1) {
    state.counters["peak_ratio"] =
        PeakRatio<Computed<T>>(ProductsOf(op) * static_cast<double>(kWidth), attend);
  } else {
    state.counters["memcpy_ratio"] =
        MemcpyRatio(k.get(), v.get(), keys * kWidth * sizeof(T), attend);
  }
  for (auto _ : state) attend();
}

constexpr auto AttentionF32 = AttentionBench<float>;
constexpr auto AttentionBF16 = AttentionBench<BF16>;
constexpr auto AttentionF16 = AttentionBench<F16>;
constexpr auto AttentionF64 = AttentionBench<double>;
constexpr Setting kPrompt{8, 8, 1024, 1024}, kGroups{32, 8, 512, 512},
    kWindow{8, 8, 2048, 2048, 255}, kBias{8, 8, 1024, 1024, -1, true},
    kSink{8, 8, 1024, 1024, -1, false, true}, kDecode{8, 8, 1, 4096}, kDecodeGroups{64, 8, 1, 4096};

BENCHMARK_CAPTURE(AttentionF32, causal_8x1024, kPrompt)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AttentionBF16, causal_8x1024, kPrompt)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AttentionF16, causal_8x1024, kPrompt)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AttentionF64, causal_8x1024, kPrompt)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AttentionF32, groups_32_of_8x512, kGroups)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AttentionF32, window_256_8x2048, kWindow)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AttentionF32, bias_8x1024, kBias)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AttentionF32, sink_8x1024, kSink)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AttentionF32, decode_8x4096, kDecode)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AttentionBF16, decode_8x4096, kDecode)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(AttentionF32, decode_64_of_8x4096, kDecodeGroups)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace sextant::fast
