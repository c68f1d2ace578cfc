// Speed of kernels that map rows to rows: counter `memcpy_ratio` = time of glibc's memcpy that
// reads and writes the same number of bytes / time of the kernel.
#include <vector>

#include "fast/attention/soft_cap.h"
#include "fast/attention/softmax.h"
#include "fast/block/router.h"
#include "fast/kernel/kernel_bench.h"
#include "fast/layer/activation.h"
#include "fast/layer/add_rms_norm.h"
#include "fast/layer/cast.h"
#include "fast/layer/dequantize.h"
#include "fast/layer/embedding.h"
#include "fast/layer/gated.h"
#include "fast/layer/layer_norm.h"
#include "fast/layer/quantize.h"
#include "fast/layer/rms_norm.h"
#include "fast/position/scale_rows.h"

namespace sextant::fast {
namespace {

constexpr size_t kL2 = size_t{256} << 10, kLarge = size_t{1} << 30;  // bytes of all arrays
constexpr size_t kWidth = 4096;

// Measures work(x, y, count) for two arrays of `count` elements, of `bytes` in total; y has a skew.
// An item is one element of y, or of each of `outputs` parts of it.
template <class T, class Work>
void MeasureRows(benchmark::State& state, size_t bytes, size_t skew, const Work& work,
                 size_t outputs = 1) {
  const size_t count = bytes / 2 / sizeof(T);
  const SkewedArray<T> x(count), y(count, skew);
  MeasureWithMemcpy(state, x.get(), y.get(), bytes, count / outputs,
                    [&] { work(x.get(), y.get(), count); });
}

template <class T>
void RmsNormBench(benchmark::State& state, size_t bytes) {
  const SkewedArray<Computed<T>> weight(kWidth);
  MeasureRows<T>(state, bytes, 0, [&](const T* x, T* y, size_t count) {
    NormalizeRows({.N = count / kWidth, .M = kWidth, .x_row = kWidth, .y_row = kWidth}, x,
                  weight.get(), y);
  });
}
constexpr auto RmsNormF32 = RmsNormBench<float>;
constexpr auto RmsNormBF16 = RmsNormBench<BF16>;
constexpr auto RmsNormF16 = RmsNormBench<F16>;
BENCHMARK_CAPTURE(RmsNormF32, L2, kL2);
BENCHMARK_CAPTURE(RmsNormF32, 1GiB, kLarge);
BENCHMARK_CAPTURE(RmsNormBF16, L2, kL2);
BENCHMARK_CAPTURE(RmsNormBF16, 1GiB, kLarge);
BENCHMARK_CAPTURE(RmsNormF16, L2, kL2);
BENCHMARK_CAPTURE(RmsNormF16, 1GiB, kLarge);

template <class T>
void LayerNormBench(benchmark::State& state, size_t bytes) {
  const SkewedArray<Computed<T>> weight(kWidth), bias(kWidth);
  MeasureRows<T>(state, bytes, 0, [&](const T* x, T* y, size_t count) {
    NormalizeCentered({.N = count / kWidth, .M = kWidth, .x_row = kWidth, .y_row = kWidth}, x,
                      weight.get(), bias.get(), y);
  });
}
constexpr auto LayerNormF32 = LayerNormBench<float>;
constexpr auto LayerNormBF16 = LayerNormBench<BF16>;
constexpr auto LayerNormF16 = LayerNormBench<F16>;
BENCHMARK_CAPTURE(LayerNormF32, L2, kL2);
BENCHMARK_CAPTURE(LayerNormF32, 1GiB, kLarge);
BENCHMARK_CAPTURE(LayerNormBF16, L2, kL2);
BENCHMARK_CAPTURE(LayerNormBF16, 1GiB, kLarge);
BENCHMARK_CAPTURE(LayerNormF16, L2, kL2);
BENCHMARK_CAPTURE(LayerNormF16, 1GiB, kLarge);

// x and residual; y and sum.
template <class T>
void AddRmsNormBench(benchmark::State& state, size_t bytes) {
  const SkewedArray<Computed<T>> weight(kWidth);
  const auto add = [&](const T* in, T* out, size_t count) {
    AddAndNormalizeRows({.N = count / 2 / kWidth, .M = kWidth}, in, in + count / 2, weight.get(),
                        AddedOutputs<T>{out, out + count / 2});
  };
  MeasureRows<T>(state, bytes, 0, add, 2);
}
constexpr auto AddRmsNormF32 = AddRmsNormBench<float>;
constexpr auto AddRmsNormBF16 = AddRmsNormBench<BF16>;
BENCHMARK_CAPTURE(AddRmsNormF32, L2, kL2);
BENCHMARK_CAPTURE(AddRmsNormF32, 1GiB, kLarge);
BENCHMARK_CAPTURE(AddRmsNormBF16, L2, kL2);

template <class T>
void SoftmaxBench(benchmark::State& state, size_t bytes, size_t width) {
  const size_t count = bytes / 2 / sizeof(T);
  const auto row = static_cast<ptrdiff_t>(width);
  const SkewedArray<T> x(count), y(count, 2048);
  for (size_t i = 0; i < count; ++i) x.get()[i] = FromDouble<T>(static_cast<double>(i % 97) / 8);
  MeasureWithMemcpy(state, x.get(), y.get(), bytes, count, [&] {
    SoftmaxOfRows({.N = count / width, .M = width, .x_row = row, .y_row = row}, x.get(), y.get());
  });
}
constexpr auto SoftmaxF32 = SoftmaxBench<float>;
constexpr auto SoftmaxBF16 = SoftmaxBench<BF16>;
constexpr auto SoftmaxF16 = SoftmaxBench<F16>;
BENCHMARK_CAPTURE(SoftmaxF32, L2, kL2, 1024);
BENCHMARK_CAPTURE(SoftmaxF32, L2_short_rows, kL2, 128);
BENCHMARK_CAPTURE(SoftmaxF32, 1GiB, kLarge, 4096);
BENCHMARK_CAPTURE(SoftmaxBF16, L2, kL2, 1024);
BENCHMARK_CAPTURE(SoftmaxBF16, 1GiB, kLarge, 4096);
BENCHMARK_CAPTURE(SoftmaxF16, L2, kL2, 1024);
BENCHMARK_CAPTURE(SoftmaxF16, 1GiB, kLarge, 4096);

// The lookup of rows in an order that prefetchers cannot predict.
template <class T>
void EmbeddingBench(benchmark::State& state, size_t bytes, double scale) {
  const size_t rows = bytes / 2 / sizeof(T) / kWidth;
  std::vector<int64_t> token(rows);
  for (size_t s = 0; s < rows; ++s) token[s] = static_cast<int64_t>(s * 2654435761 % rows);
  MeasureRows<T>(state, bytes, 0, [&](const T* table, T* y, size_t) {
    GatherRows<T>({table, kWidth, scale}, token, y);
  });
}
constexpr auto EmbeddingF32 = EmbeddingBench<float>;
constexpr auto EmbeddingBF16 = EmbeddingBench<BF16>;
BENCHMARK_CAPTURE(EmbeddingF32, L2, kL2, 1);
BENCHMARK_CAPTURE(EmbeddingF32, 1GiB, kLarge, 1);
BENCHMARK_CAPTURE(EmbeddingF32, scaled_1GiB, kLarge, 55.5);
BENCHMARK_CAPTURE(EmbeddingBF16, scaled_L2, kL2, 55.5);

template <class T>
void ScaleBench(benchmark::State& state, size_t bytes) {
  constexpr size_t kHeadWidth = 128;
  const std::vector<Computed<T>> factor(bytes / 2 / sizeof(T) / kHeadWidth, 1.5);
  MeasureRows<T>(state, bytes, 0, [&](const T* x, T* y, size_t) {
    ScaleRows<T>(factor.size(), kHeadWidth, x, factor, y);
  });
}
constexpr auto ScaleF32 = ScaleBench<float>;
constexpr auto ScaleBF16 = ScaleBench<BF16>;
BENCHMARK_CAPTURE(ScaleF32, L2, kL2);
BENCHMARK_CAPTURE(ScaleBF16, L2, kL2);

template <class T>
void GateBench(benchmark::State& state, GateKind kind, size_t bytes) {
  constexpr size_t kUnits = 2048;
  const size_t count = bytes / 3 / sizeof(T) / kUnits * kUnits, all = 3 * count * sizeof(T);
  const SkewedArray<T> gate(count), up(count, 1024), y(count, 2048);
  const SkewedArray<char> from(all / 2), to(all / 2, 2048);
  const GateRows rows{count / kUnits, kUnits, kUnits, kUnits, kUnits, kind};
  MeasureWithMemcpy(state, from.get(), to.get(), all, count,
                    [&] { Gate(rows, gate.get(), up.get(), y.get()); });
}
constexpr auto GateF32 = GateBench<float>;
constexpr auto GateBF16 = GateBench<BF16>;
constexpr auto GateF16 = GateBench<F16>;
BENCHMARK_CAPTURE(GateF32, swiglu_L2, GateKind::kSwiglu, kL2);
BENCHMARK_CAPTURE(GateF32, swiglu_1GiB, GateKind::kSwiglu, kLarge);
BENCHMARK_CAPTURE(GateF32, geglu_L2, GateKind::kGeglu, kL2);
BENCHMARK_CAPTURE(GateF32, geglu_tanh_L2, GateKind::kGegluTanh, kL2);
BENCHMARK_CAPTURE(GateBF16, swiglu_L2, GateKind::kSwiglu, kL2);
BENCHMARK_CAPTURE(GateBF16, swiglu_1GiB, GateKind::kSwiglu, kLarge);
BENCHMARK_CAPTURE(GateF16, swiglu_L2, GateKind::kSwiglu, kL2);
BENCHMARK_CAPTURE(GateF16, swiglu_1GiB, GateKind::kSwiglu, kLarge);

void ActivationF32(benchmark::State& state, ActivationKind kind) {
  MeasureRows<float>(state, kL2, 2048, [&](const float* x, float* y, size_t count) {
    Activate(kind, 1, x, y, count);
  });
}
BENCHMARK_CAPTURE(ActivationF32, swish_L2, ActivationKind::kSwish);
BENCHMARK_CAPTURE(ActivationF32, gelu_L2, ActivationKind::kGelu);
BENCHMARK_CAPTURE(ActivationF32, gelu_tanh_L2, ActivationKind::kGeluTanh);
BENCHMARK_CAPTURE(ActivationF32, tanh_L2, ActivationKind::kTanh);
BENCHMARK_CAPTURE(ActivationF32, relu_L2, ActivationKind::kRelu);

void SoftCapF32(benchmark::State& state, size_t bytes) {
  MeasureRows<float>(state, bytes, 2048,
                     [](const float* x, float* y, size_t count) { ApplySoftCap(50, x, y, count); });
}
BENCHMARK_CAPTURE(SoftCapF32, L2, kL2);

// `bytes` of x and y together.
void Conversion(benchmark::State& state, DType from, DType to, size_t bytes) {
  const size_t count = bytes / (SizeOf(from) + SizeOf(to));
  const SkewedArray<char> x(count * SizeOf(from)), y(count * SizeOf(to), 2048);
  const SkewedArray<char> source(bytes / 2), copy(bytes / 2, 2048);
  MeasureWithMemcpy(state, source.get(), copy.get(), bytes, count,
                    [&] { Convert(from, x.get(), to, y.get(), Overflow::kSaturate, count); });
}
BENCHMARK_CAPTURE(Conversion, f32_to_f8_e4m3fn_L2, DType::kF32, DType::kF8E4M3FN, kL2);
BENCHMARK_CAPTURE(Conversion, f32_to_f8_e4m3fn_1GiB, DType::kF32, DType::kF8E4M3FN, kLarge);
BENCHMARK_CAPTURE(Conversion, bf16_to_f8_e4m3fn_L2, DType::kBF16, DType::kF8E4M3FN, kL2);
BENCHMARK_CAPTURE(Conversion, f8_e4m3fn_to_bf16_L2, DType::kF8E4M3FN, DType::kBF16, kL2);
BENCHMARK_CAPTURE(Conversion, f8_e5m2fnuz_to_f32_L2, DType::kF8E5M2FNUZ, DType::kF32, kL2);
BENCHMARK_CAPTURE(Conversion, f64_to_bf16_L2, DType::kF64, DType::kBF16, kL2);

// Blocks of 128 numbers side by side. `bytes` of x and codes together.
template <class T>
void Quantization(benchmark::State& state, size_t bytes) {
  constexpr size_t kBlock = 128;
  const size_t count = bytes / (sizeof(T) + 1) / kBlock;
  const SkewedArray<T> x(count * kBlock);
  const SkewedArray<uint8_t> codes(count * kBlock, 2048);
  const SkewedArray<float> scale(count, 1024);
  const SkewedArray<char> source(bytes / 2), copy(bytes / 2, 2048);
  const QuantizedBlocks blocks{count, 1, kBlock, count * kBlock, DType::kF8E4M3FN, 448, 0};
  MeasureWithMemcpy(state, source.get(), copy.get(), bytes, count * kBlock,
                    [&] { QuantizeRow(blocks, x.get(), scale.get(), codes.get()); });
}
constexpr auto QuantizationF32 = Quantization<float>;
constexpr auto QuantizationBF16 = Quantization<BF16>;
BENCHMARK_CAPTURE(QuantizationF32, L2, kL2);
BENCHMARK_CAPTURE(QuantizationF32, 1GiB, kLarge);
BENCHMARK_CAPTURE(QuantizationBF16, L2, kL2);
BENCHMARK_CAPTURE(QuantizationBF16, 1GiB, kLarge);

// Blocks of 128 codes side by side. `bytes` of codes and y together.
template <class T>
void Dequantization(benchmark::State& state, size_t bytes) {
  constexpr size_t kBlock = 128;
  const size_t count = bytes / (sizeof(T) + 1) / kBlock;
  const SkewedArray<T> y(count * kBlock);
  const SkewedArray<uint8_t> codes(count * kBlock, 2048);
  const SkewedArray<float> scale(count, 1024);
  const SkewedArray<char> source(bytes / 2), copy(bytes / 2, 2048);
  const QuantizedBlocks blocks{count, 1, kBlock, count * kBlock, DType::kF8E4M3FN, 0, 0};
  MeasureWithMemcpy(state, source.get(), copy.get(), bytes, count * kBlock,
                    [&] { DequantizeRow(blocks, codes.get(), scale.get(), nullptr, y.get()); });
}
constexpr auto DequantizationF32 = Dequantization<float>;
constexpr auto DequantizationBF16 = Dequantization<BF16>;
BENCHMARK_CAPTURE(DequantizationF32, 1GiB, kLarge);
BENCHMARK_CAPTURE(DequantizationBF16, 1GiB, kLarge);

// 8 of E experts for each token: an item is a logit. Choosing them takes most of the time.
void RouterF32(benchmark::State& state, int64_t experts) {
  Router op;
  op.E.value = experts;
  op.K.value = 8;
  constexpr size_t kTokens = 1024;
  const auto E = static_cast<size_t>(experts), K = size_t{8};
  const SkewedArray<float> logits(kTokens * E), weights(kTokens * K), copy(kTokens * E, 2048);
  const SkewedArray<int64_t> indices(kTokens * K);
  RouterScratch<float> scratch(E);
  for (size_t i = 0; i < kTokens * E; ++i) logits.get()[i] = static_cast<float>(i * 37 % 1009);
  MeasureWithMemcpy(state, logits.get(), copy.get(), 2 * kTokens * E * sizeof(float), kTokens * E,
                    [&] {
                      for (size_t n = 0; n < kTokens; ++n)
                        RouteRow<float>(op, logits.get() + n * E, nullptr, indices.get() + n * K,
                                        weights.get() + n * K, scratch);
                    });
}
BENCHMARK_CAPTURE(RouterF32, 64_experts, 64);
BENCHMARK_CAPTURE(RouterF32, 256_experts, 256);

}  // namespace
}  // namespace sextant::fast
