// Speed of position-dependent attention without rotation: memcpy_ratio = time of glibc's memcpy of
// as many bytes as the output has / time of the kernel; loop_ratio = time of a plain loop that
// follows the definition, with the compiler flags of code that calls kernels / time of the kernel.
#include <algorithm>
#include <cmath>
#include <vector>

#include "fast/attention/relative_attention.h"
#include "fast/kernel/kernel_bench.h"
#include "fast/position/alibi.h"
#include "fast/position/relative_bias.h"

namespace sextant::fast {
namespace {

constexpr size_t kHeads = 8, kQueries = 64, kKeys = 256;  // 512 KiB of f32

std::vector<int64_t> Positions(size_t count) {
  std::vector<int64_t> positions(count);
  for (size_t i = 0; i < count; ++i) positions[i] = static_cast<int64_t>(i);
  return positions;
}

template <class T>
void AlibiBench(benchmark::State& state) {
  const size_t count = kHeads * kQueries * kKeys;
  const SkewedArray<T> bias(count), other(count);
  const auto query = Positions(kQueries), key = Positions(kKeys);
  std::vector<Computed<T>> slope;
  for (size_t h = 1; h <= kHeads; ++h) slope.push_back(std::exp2(-static_cast<double>(h)));
  MeasureWithMemcpy(state, other.get(), bias.get(), 2 * count * sizeof(T), count, [&] {
    FillAlibi<T>({.query_position = query, .key_position = key}, slope, bias.get());
  });
}

template <class T>
void RelativeBiasBench(benchmark::State& state) {
  const size_t count = kHeads * kQueries * kKeys;
  const SkewedArray<T> bias(count), other(count), table(32 * kHeads);
  const auto query = Positions(kQueries), key = Positions(kKeys);
  const RelativeBuckets buckets(32, 128, true);
  MeasureWithMemcpy(state, other.get(), bias.get(), 2 * count * sizeof(T), count, [&] {
    FillRelativeBias<T>({buckets, query, key}, table.get(), kHeads, bias.get());
  });
}

// Shaw et al. 2018, eq. 3 and 4, as written: reads a table row for every query and key.
void Attend(const RelativeInputs<float>& in, float* y, float* scores) {
  const size_t S = in.query_position.size(), T = in.key_position.size(), D = in.D;
  for (size_t h = 0; h < in.heads; ++h) {
    for (size_t s = 0; s < S; ++s) {
      const float* q = in.q + (h * S + s) * D;
      float* score = scores + (h * S + s) * T;
      const auto row_of = [&](size_t t) {
        const int64_t ahead = in.key_position[t] - in.query_position[s];
        return static_cast<size_t>(std::clamp(ahead, -in.clip, in.clip) + in.clip);
      };
      float largest = -INFINITY, sum = 0;
      for (size_t t = 0; t < T; ++t) {
        const float *k = in.k + (h * T + t) * D, *a = in.key_table + row_of(t) * D;
        float dot = 0;
        for (size_t d = 0; d < D; ++d) dot += q[d] * (k[d] + a[d]);
        score[t] = dot * static_cast<float>(in.scale);
        largest = std::max(largest, score[t]);
      }
      float* out = y + (h * S + s) * D;
      std::fill_n(out, D, 0.0F);
      for (size_t t = 0; t < T; ++t) {
        const float weight = std::exp(score[t] - largest);
        const float *v = in.v + (h * T + t) * D, *a = in.value_table + row_of(t) * D;
        sum += weight;
        for (size_t d = 0; d < D; ++d) out[d] += weight * (v[d] + a[d]);
      }
      for (size_t d = 0; d < D; ++d) out[d] /= sum;
    }
  }
}

void RelativeAttentionBench(benchmark::State& state) {
  constexpr size_t kD = 64;
  constexpr int64_t kClip = 16;
  const size_t rows = kHeads * kQueries, keys = kHeads * kKeys, table = (2 * kClip + 1) * kD;
  const SkewedArray<float> q(rows * kD), k(keys * kD), v(keys * kD), key_table(table),
      value_table(table), y(rows * kD), scores(rows * kKeys);
  const auto query = Positions(kQueries), key = Positions(kKeys);
  const RelativeInputs<float> in{.heads = kHeads,
                                 .D = kD,
                                 .q = q.get(),
                                 .k = k.get(),
                                 .v = v.get(),
                                 .key_table = key_table.get(),
                                 .value_table = value_table.get(),
                                 .query_position = query,
                                 .key_position = key,
                                 .clip = kClip,
                                 .scale = 0.125};
  std::vector<float> scratch(ScratchOf(in));
  const auto attend = [&] {
    RelativeAttend(in, y.get(), scores.get(), scratch.data());
    benchmark::ClobberMemory();
  };
  const auto loop = [&] {
    Attend(in, y.get(), scores.get());
    benchmark::ClobberMemory();
  };
  state.counters["loop_ratio"] = RatioOf(loop, attend, 5);
  for (auto _ : state) attend();
}

BENCHMARK_TEMPLATE(AlibiBench, float);
BENCHMARK_TEMPLATE(AlibiBench, BF16);
BENCHMARK_TEMPLATE(RelativeBiasBench, float);
BENCHMARK_TEMPLATE(RelativeBiasBench, BF16);
BENCHMARK(RelativeAttentionBench);

}  // namespace
}  // namespace sextant::fast
