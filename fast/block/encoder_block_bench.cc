// Speed of an encoder block of the original Transformer's base model: counter `peak_ratio` = time
// of the same number of fused multiply-adds as in its products, in registers only / time of the
// block.
#include <vector>

#include "fast/block/encoder_block.h"
#include "fast/kernel/peak_bench.h"

namespace sextant::fast {
namespace {

// Vaswani et al. 2017, arXiv:1706.03762, table 3: 512 channels, 8 heads, 2048 units.
constexpr size_t kM = 512, kH = 8, kD = 64, kF = 2048;

template <class T>
void EncodeBench(benchmark::State& state) {
  const auto S = static_cast<size_t>(state.range(0));
  EncoderBlock block;
  block.H.value = block.K.value = kH;
  block.S.value = static_cast<int64_t>(S);
  EncoderMemory<T> buffers(block, kM, kD, kF);
  const SkewedArray<T> x(S * kM), y(S * kM);
  const std::vector<T> narrow(kM * kF, FromDouble<T>(0.75));  // as long as the longest weight
  const std::vector<Computed<T>> wide(kM * kF, 0.75);
  EncoderWeights<T> weights;
  weights.Visit([&]<class E>(const char*, std::span<const E>& weight) {
    if constexpr (std::same_as<E, T>) weight = narrow;
    if constexpr (!std::same_as<E, T>) weight = wide;
  });
  const auto encode = [&] {
    Encode(block, x.get(), x.get(), weights, buffers, y.get());
    benchmark::ClobberMemory();
  };
  const double products =
      static_cast<double>(S * kM * (4 * kH * kD + 2 * kF) + 2 * S * S * kH * kD);
  state.counters["peak_ratio"] = PeakRatio<Computed<T>>(products, encode);
  for (auto _ : state) encode();
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * S));  // tokens
}

BENCHMARK_TEMPLATE(EncodeBench, float)->Arg(16)->Arg(128);
BENCHMARK_TEMPLATE(EncodeBench, BF16)->Arg(128);
BENCHMARK_TEMPLATE(EncodeBench, double)->Arg(128);

}  // namespace
}  // namespace sextant::fast
