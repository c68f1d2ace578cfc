// Proven output values per second, permitted errors included, on all cores.
#include <benchmark/benchmark.h>

#include <string>

#include "reference/case/draw.h"
#include "reference/prove/prove.h"

namespace sextant {
namespace {

void ProveCase(benchmark::State& state, const std::string& line) {
  const Case c = Case::Parse(line);
  const Tensors inputs = DrawInputs(c);
  const Recipe recipe = ParseRecipe("native", c.dtype());
  size_t values = 0;
  for (auto _ : state) {
    for (const GoldenTensor& golden : Prove({c, inputs, recipe}))
      values += golden.value.data.size();
  }
  state.SetItemsProcessed(static_cast<int64_t>(values));
}

BENCHMARK_CAPTURE(ProveCase, rope_table, "rope_table R=128 S=131072")
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(ProveCase, rope, "rope pairing=half H=32 S=2048 D=128 dtype=bf16")
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(ProveCase, rms_norm, "rms_norm N=256 M=4096 dtype=bf16")
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

BENCHMARK_CAPTURE(ProveCase, linear, "linear N=64 F=128 M=2048")
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(ProveCase, relative_attention, "relative_attention clip=16 H=2 S=64 T=64 D=128")
    ->Unit(benchmark::kSecond)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

}  // namespace
}  // namespace sextant
