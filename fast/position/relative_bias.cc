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

namespace {

constexpr size_t kStep = 1024;  // keys per block; their rows stay in the first-level cache

// row[i] = heads times the row of a key that is ahead[i] after the query.
void FindRows(const RelativeBuckets& buckets, std::span<const int64_t> ahead, size_t heads,
              int32_t* row) {
  double bucket[2 * kStep];
  const std::span<const int64_t> starts = buckets.starts();
  for (size_t i = 0; i < ahead.size(); ++i) {
    const int64_t distance =
        buckets.bidirectional() ? std::abs(ahead[i]) : std::max<int64_t>(0, -ahead[i]);
    bucket[i] = static_cast<double>(distance);
  }
  HWY_DYNAMIC_DISPATCH(FindBuckets)(starts, bucket, ahead.size());
  for (size_t i = 0; i < ahead.size(); ++i) {
    const bool second = buckets.bidirectional() && ahead[i] > 0;
    const size_t found = static_cast<size_t>(bucket[i]) + (second ? starts.size() : 0);
    row[i] = static_cast<int32_t>(found * heads);
  }
}

bool AreConsecutive(std::span<const int64_t> positions) {
  for (size_t i = 1; i < positions.size(); ++i)
    if (positions[i] != positions[0] + static_cast<int64_t>(i)) return false;
  return true;
}

// The number of first queries that are at most kStep apart, at least 1, and the last position of
// these and how far it is from the first.
struct NearQueries {
  size_t count = 1;
  int64_t most, span = 0;
  explicit NearQueries(std::span<const int64_t> query) : most(query[0]) {
    for (int64_t least = most; count < query.size(); ++count) {
      const int64_t low = std::min(least, query[count]), high = std::max(most, query[count]);
      if (high - low > static_cast<int64_t>(kStep)) return;
      least = low;
      most = high;
      span = high - low;
    }
  }
};

// Fills the bias of `count` heads; the rows of the table are `heads` elements apart.
template <Element T>
void FillHeads(const RelativePositions& positions, const T* table, size_t heads, size_t count,
               T* bias) {
  const auto& [buckets, query, key] = positions;
  int64_t ahead[2 * kStep];
  int32_t row[2 * kStep];
  T line[2 * kStep];
  for (size_t t = 0; t < key.size(); t += kStep) {
    const std::span<const int64_t> keys = key.subspan(t, std::min(kStep, key.size() - t));
    const bool in_line = AreConsecutive(keys);
    for (size_t s = 0, queries = 0; s < query.size(); s += queries) {
      // For consecutive keys, the bias of each of several near queries is a part of one line.
      const NearQueries near(query.subspan(s, in_line ? query.size() - s : 1));
      queries = near.count;
      const size_t length = keys.size() + static_cast<size_t>(near.span);
      for (size_t i = 0; i < length; ++i)
        ahead[i] = (in_line ? keys[0] + static_cast<int64_t>(i) : keys[i]) - near.most;
      FindRows(buckets, {ahead, length}, heads, row);
      for (size_t h = 0; h < count; ++h) {
        for (size_t i = 0; i < length; ++i) line[i] = table[static_cast<size_t>(row[i]) + h];
        for (size_t q = s; q < s + queries; ++q)
          std::copy_n(line + (near.most - query[q]), keys.size(),
                      bias + (h * query.size() + q) * key.size() + t);
      }
    }
  }
}

}  // namespace

template <Element T>
void FillRelativeBias(const RelativePositions& positions, const T* table, size_t heads, T* bias) {
  const size_t size = positions.query.size() * positions.key.size();
  InRowParts(heads, size, [&](size_t first, size_t count) {
    FillHeads(positions, table + first, heads, count, bias + first * size);
  });
}

template void FillRelativeBias(const RelativePositions&, const double*, size_t, double*);
template void FillRelativeBias(const RelativePositions&, const float*, size_t, float*);
template void FillRelativeBias(const RelativePositions&, const F16*, size_t, F16*);
template void FillRelativeBias(const RelativePositions&, const BF16*, size_t, BF16*);

namespace {

constexpr size_t kMostHeads = size_t{1} << 20;

std::string Declines(const Case& c) {
  return ExtentOf(c, "H") >= kMostHeads ? "2^20 heads or more" : DeclinesMixedTypes(c);
}

StoredTensors RunRelativeBias(const Case& c, const StoredTensors& inputs) {
  const auto op = StructOf<RelativeBias>(c);
  const RelativeBuckets buckets(op.P.value, op.max_distance, op.bidirectional);
  const std::vector<int64_t> query = ToIntegers(inputs[1]), key = ToIntegers(inputs[2]);
  StoredTensors bias = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    FillRelativeBias<T>({buckets, query, key}, inputs[0].As<T>(), ExtentOf(c, "H"),
                        bias[0].As<T>());
  });
  return bias;
}

}  // namespace

template <>
CaseKernel MakeKernel<RelativeBias>() {
  return {Declines, RunRelativeBias};
}

}  // namespace sextant::fast
#endif
