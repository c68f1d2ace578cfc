// Speed of matrix products: counter `peak_ratio` = time of the same number of fused multiply-adds
// in registers only / time of the layer.
#include <vector>

#include "fast/kernel/peak_bench.h"
#include "fast/layer/linear.h"

namespace sextant::fast {
namespace {

template <class T>
void LinearBench(benchmark::State& state) {
  const ProductShape shape{static_cast<size_t>(state.range(0)), static_cast<size_t>(state.range(1)),
                           static_cast<size_t>(state.range(2))};
  const SkewedArray<T> x(shape.N * shape.K), weight(shape.F * shape.K), y(shape.N * shape.F);
  const auto apply = [&] {
    ApplyLinear<T>(shape, x.get(), weight.get(), nullptr, y.get());
    benchmark::ClobberMemory();
  };
  state.counters["peak_ratio"] =
      PeakRatio<Computed<T>>(static_cast<double>(shape.N * shape.F * shape.K), apply);
  for (auto _ : state) apply();
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * shape.N * shape.F * shape.K));
}

// Rows, outputs and columns: layers of models of width 2048 and 512 for a prompt, and of width 2048
// for one token.
void Shapes(benchmark::internal::Benchmark* bench) {
  bench->Args({256, 2048, 2048})->Args({64, 512, 512})->Args({1, 2048, 2048});
}
BENCHMARK_TEMPLATE(LinearBench, float)->Apply(Shapes);
BENCHMARK_TEMPLATE(LinearBench, BF16)->Apply(Shapes);
BENCHMARK_TEMPLATE(LinearBench, F16)->Apply(Shapes);
BENCHMARK_TEMPLATE(LinearBench, double)->Apply(Shapes);

}  // namespace
}  // namespace sextant::fast
