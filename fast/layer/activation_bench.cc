// Speed of activations: counter `memcpy_ratio` = time of glibc's memcpy that reads and writes the
// same number of bytes / time of the operation.
#include "fast/attention/soft_cap.h"
#include "fast/kernel/kernel_bench.h"
#include "fast/layer/activation.h"
#include "fast/layer/gated.h"

namespace sextant::fast {
namespace {

// The memcpy reads bytes / 2 and writes bytes / 2, for every operation.
template <class Work>
void Measure(benchmark::State& state, size_t bytes, size_t count, const Work& work) {
  const SkewedArray<char> from(bytes / 2), to(bytes / 2, 2048);
  MeasureWithMemcpy(state, from.get(), to.get(), bytes, count, work);
}

template <class T>
void GateBench(benchmark::State& state, GateKind kind, size_t bytes) {
  constexpr size_t kWidth = 2048;
  const size_t count = bytes / 3 / sizeof(T) / kWidth * kWidth;
  const SkewedArray<T> gate(count), up(count, 1024), y(count, 2048);
  const GateRows rows{count / kWidth, kWidth, kWidth, kWidth, kWidth, kind};
  Measure(state, 3 * count * sizeof(T), count, [&] { Gate(rows, gate.get(), up.get(), y.get()); });
}

template <class T>
void ActivationBench(benchmark::State& state, ActivationKind kind, size_t bytes) {
  const size_t count = bytes / 2 / sizeof(T);
  const SkewedArray<T> x(count), y(count, 2048);
  Measure(state, bytes, count, [&] { Activate(kind, 1, x.get(), y.get(), count); });
}

template <class T>
void SoftCapBench(benchmark::State& state, size_t bytes) {
  const size_t count = bytes / 2 / sizeof(T);
  const SkewedArray<T> x(count), y(count, 2048);
  Measure(state, bytes, count, [&] { ApplySoftCap(50, x.get(), y.get(), count); });
}

constexpr size_t kL2 = size_t{256} << 10, kLarge = size_t{1} << 30;

constexpr auto GateF32 = GateBench<float>;
constexpr auto GateBF16 = GateBench<BF16>;
BENCHMARK_CAPTURE(GateF32, swiglu_L2, GateKind::kSwiglu, kL2);
BENCHMARK_CAPTURE(GateF32, swiglu_1GiB, GateKind::kSwiglu, kLarge);
BENCHMARK_CAPTURE(GateF32, geglu_L2, GateKind::kGeglu, kL2);
BENCHMARK_CAPTURE(GateF32, geglu_tanh_L2, GateKind::kGegluTanh, kL2);
BENCHMARK_CAPTURE(GateBF16, swiglu_L2, GateKind::kSwiglu, kL2);

constexpr auto ActivationF32 = ActivationBench<float>;
BENCHMARK_CAPTURE(ActivationF32, swish_L2, ActivationKind::kSwish, kL2);
BENCHMARK_CAPTURE(ActivationF32, gelu_L2, ActivationKind::kGelu, kL2);
BENCHMARK_CAPTURE(ActivationF32, gelu_tanh_L2, ActivationKind::kGeluTanh, kL2);
BENCHMARK_CAPTURE(ActivationF32, tanh_L2, ActivationKind::kTanh, kL2);
BENCHMARK_CAPTURE(ActivationF32, relu_L2, ActivationKind::kRelu, kL2);
constexpr auto SoftCapF32 = SoftCapBench<float>;
BENCHMARK_CAPTURE(SoftCapF32, L2, kL2);

}  // namespace
}  // namespace sextant::fast
