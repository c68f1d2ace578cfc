#include "fast/kernel/peak_bench.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/kernel/peak_bench.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/simd/any_element.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Each chain starts with a different number, because a compiler computes equal chains only once.
template <class C>
HWY_INLINE size_t Chains(size_t rounds, C* numbers) {
  const hn::ScalableTag<C> d;
  hn::VFromD<decltype(d)> sum[kPeakChains];
  const auto factor = hn::Set(d, numbers[0]), term = hn::Set(d, numbers[1]);
#pragma GCC unroll 12
  for (size_t i = 0; i < kPeakChains; ++i) sum[i] = hn::Set(d, numbers[i]);
  for (size_t round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (size_t i = 0; i < kPeakChains; ++i) sum[i] = hn::MulAdd(sum[i], factor, term);
  }
#pragma GCC unroll 12
  for (size_t i = 0; i < kPeakChains; ++i) numbers[i] = hn::GetLane(sum[i]);
  return rounds * kPeakChains * hn::Lanes(d);
}

size_t ChainsOfElements(DType dtype, size_t rounds, UntypedOutput numbers) {
  return WithReal(dtype, [=]<class C>() HWY_ATTR { return Chains<C>(rounds, numbers); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace sextant::fast {

HWY_EXPORT(ChainsOfElements);

size_t MultiplyAndAdd(size_t rounds, float* numbers) {
  return HWY_DYNAMIC_DISPATCH(ChainsOfElements)(DType::kF32, rounds, numbers);
}
size_t MultiplyAndAdd(size_t rounds, double* numbers) {
  return HWY_DYNAMIC_DISPATCH(ChainsOfElements)(DType::kF64, rounds, numbers);
}

namespace {

// SEXTANT_BENCH_TARGET=AVX2 in the environment: only these instructions.
const bool is_one_target = [] {
  const char* name = std::getenv("SEXTANT_BENCH_TARGET");
  if (name == nullptr) return false;
  std::string known;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    if (hwy::TargetName(target) == std::string_view(name)) {
      hwy::SetSupportedTargetsForTest(target);
      return true;
    }
    known += std::string(" ") + hwy::TargetName(target);
  }
  std::fprintf(stderr, "SEXTANT_BENCH_TARGET: '%s', expected one of:%s\n", name, known.c_str());
  std::exit(2);
}();

// One item is one multiply-add.
template <class C>
void PeakBench(benchmark::State& state) {
  C numbers[kPeakChains];
  size_t count = 0;
  for (auto _ : state) {
    for (size_t i = 0; i < kPeakChains; ++i) numbers[i] = 1 / static_cast<C>(i + 2);
    count += MultiplyAndAdd(10000, numbers);
    benchmark::DoNotOptimize(numbers);
  }
  state.SetItemsProcessed(static_cast<int64_t>(count));
}
BENCHMARK_TEMPLATE(PeakBench, float);
BENCHMARK_TEMPLATE(PeakBench, double);

}  // namespace
}  // namespace sextant::fast
#endif
