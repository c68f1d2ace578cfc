// How near the processor's peak a kernel comes that is mostly multiplications and additions.
#pragma once

#include <algorithm>

#include "fast/kernel/kernel_bench.h"

namespace sextant::fast {

inline constexpr size_t kPeakChains = 12;

// `rounds` times kPeakChains independent fused multiply-adds of whole vectors, on registers alone;
// returns how many of one lane these are. numbers[kPeakChains]: started with, and changed.
size_t MultiplyAndAdd(size_t rounds, float* numbers);
size_t MultiplyAndAdd(size_t rounds, double* numbers);

// Time of that many multiplications with additions so done / time of `work`, both measured in turn.
template <class C, class Work>
double OfPeak(double products, const Work& work) {
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
