// The share of the processor's peak that a kernel of multiply-adds reaches.
#pragma once

#include <algorithm>

#include "fast/kernel/kernel_bench.h"

namespace sextant::fast {

inline constexpr size_t kPeakChains = 12;

// Computes `rounds` times kPeakChains independent fused multiply-adds of full vectors, in registers
// only. Returns their number, counted per lane. numbers[kPeakChains] are the first operands, and
// are overwritten.
size_t MultiplyAndAdd(size_t rounds, float* numbers);
size_t MultiplyAndAdd(size_t rounds, double* numbers);

// Time of `products` multiply-adds by MultiplyAndAdd / time of `work`, measured alternately.
template <class C, class Work>
double PeakRatio(double products, const Work& work) {
  constexpr size_t kRounds = 20000;
  C numbers[kPeakChains];
  const auto peak = [&] {
    for (size_t i = 0; i < kPeakChains; ++i) numbers[i] = 1 / static_cast<C>(i + 2);
    benchmark::DoNotOptimize(MultiplyAndAdd(kRounds, numbers));
    benchmark::ClobberMemory();
  };
  peak();
  const auto per_call = static_cast<double>(MultiplyAndAdd(kRounds, numbers));
  return RatioOf(peak, work, 20) * products / per_call;
}

}  // namespace sextant::fast
