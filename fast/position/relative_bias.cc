#include "fast/position/relative_bias.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/position/relative_bias.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/element-inl.h"
#include "reference/position/relative_bias.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// Replaces each distance by its bucket: the number of starts that are at most the distance, minus
// one. All starts are exact in double, so rounding a distance to double does not change its bucket.
void FindBuckets(std::span<const int64_t> starts, double* distance, size_t n) {
  const hn::ScalableTag<double> d;
  const size_t exact = starts.size() / 2;  // the first buckets start at 0, 1, 2, ...
  ForEachVector(d, n, [&](auto dk, size_t k) SEXTANT_INLINE {
    const auto x = hn::LoadU(dk, distance + k);
    const auto one = hn::Set(dk, 1.0);
    auto bucket = hn::Min(x, hn::Set(dk, static_cast<double>(exact)));
    for (const int64_t start : starts.subspan(exact + 1)) {
      const auto reached = hn::Ge(x, hn::Set(dk, static_cast<double>(start)));
      bucket = hn::Add(bucket, hn::IfThenElseZero(reached, one));
    }
    hn::StoreU(bucket, dk, distance + k);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(FindBuckets);

template <Element T>
void FillRelativeBias(const RelativePositions& positions, const T* table, size_t heads,
                      T* bias) noexcept {
  constexpr size_t kStep = 1024;  // keys per block; their rows stay in the first-level cache
  double bucket[kStep];
  int32_t row[kStep];
  const auto& [buckets, query, key] = positions;
  const std::span<const int64_t> starts = buckets.starts();
  for (size_t s = 0; s < query.size(); ++s) {
    for (size_t t = 0; t < key.size(); t += kStep) {
      const size_t n = std::min(kStep, key.size() - t);
      for (size_t k = 0; k < n; ++k) {
        const int64_t ahead = key[t + k] - query[s];
        const int64_t distance =
            buckets.bidirectional() ? std::abs(ahead) : std::max<int64_t>(0, -ahead);
        bucket[k] = static_cast<double>(distance);
      }
      HWY_DYNAMIC_DISPATCH(FindBuckets)(starts, bucket, n);
      for (size_t k = 0; k < n; ++k) {
        const bool second = buckets.bidirectional() && key[t + k] > query[s];
        const size_t found = static_cast<size_t>(bucket[k]) + (second ? starts.size() : 0);
        row[k] = static_cast<int32_t>(found * heads);
      }
      for (size_t h = 0; h < heads; ++h) {
        T* out = bias + (h * query.size() + s) * key.size() + t;
        for (size_t k = 0; k < n; ++k) out[k] = table[static_cast<size_t>(row[k]) + h];
      }
    }
  }
}

template void FillRelativeBias(const RelativePositions&, const double*, size_t, double*) noexcept;
template void FillRelativeBias(const RelativePositions&, const float*, size_t, float*) noexcept;
template void FillRelativeBias(const RelativePositions&, const F16*, size_t, F16*) noexcept;
template void FillRelativeBias(const RelativePositions&, const BF16*, size_t, BF16*) noexcept;

namespace {

constexpr size_t kMostHeads = size_t{1} << 20;

std::string Declines(const Case& c) {
  return ExtentOf(c, "H") >= kMostHeads ? "2^20 heads or more" : DeclinesMixedTypes(c);
}

Tensors RunRelativeBias(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RelativeBias>(c);
  const RelativeBuckets buckets(op.P.value, op.max_distance, op.bidirectional);
  const std::vector<int64_t> query = ToIntegers(inputs[1].values),
                             key = ToIntegers(inputs[2].values);
  const size_t H = ExtentOf(c, "H");
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    const auto table = ToElements<T>(inputs[0].values);
    std::vector<T> bias(H * query.size() * key.size());
    FillRelativeBias<T>({buckets, query, key}, table.data(), H, bias.data());
    return {ToTensor("bias", {H, query.size(), key.size()}, bias)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<RelativeBias>() {
  return {Declines, RunRelativeBias};
}

}  // namespace sextant::fast
#endif
