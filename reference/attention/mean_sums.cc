#include "reference/attention/mean_sums.h"

#include <array>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/attention/mean_sums.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/counted/counted.h"
#include "reference/number/double_double/double_double-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kMeanColumns>;
using V = hn::Vec<D>;

// The sums of the columns of one vector, from their start on.
struct Columns {
  V high, low, rounding, drift, least, most, size, scores, weights;

  Columns() {
    const D d;
    high = low = rounding = drift = size = scores = weights = hn::Zero(d);
    least = hn::Set(d, std::numeric_limits<double>::infinity());
    most = hn::Neg(least);
  }

  void Store(D d, MeanSums* sums) const {
    const auto store = [&](V from, double MeanSums::*member) {
      double lanes[kMeanColumns];
      hn::StoreU(from, d, lanes);
      for (size_t i = 0; i < hn::Lanes(d); ++i) sums[i].*member = lanes[i];
    };
    store(high, &MeanSums::high);
    store(low, &MeanSums::low);
    store(rounding, &MeanSums::rounding);
    store(drift, &MeanSums::drift);
    store(least, &MeanSums::least);
    store(most, &MeanSums::most);
    store(size, &MeanSums::size);
    store(scores, &MeanSums::scores);
    store(weights, &MeanSums::weights);
  }
};

// Add takes what does not need the mean; when all is added, Finish is called, and then AddDistance.
struct DoubleDoubleCenters : Columns {
  static HWY_INLINE V Magnitude(D d, V v) { return hn::Mul(hn::Abs(v), hn::Set(d, 1 + 0x1p-50)); }

  HWY_INLINE void Add(D d, const MeanWeights& of, size_t j, V v) {
    const V magnitude = Magnitude(d, v);
    least = hn::Min(least, v);
    most = hn::Max(most, v);
    size = hn::Add(size, hn::Mul(hn::Set(d, of.most[j]), magnitude));
    const auto exact = TwoProduct(d, hn::Set(d, of.high[j]), v);
    const V cross = hn::Mul(hn::Set(d, of.low[j]), v);
    const auto p = FastTwoSum(exact.high, hn::Add(exact.low, cross));
    const auto s = TwoSum(high, p.high), t = TwoSum(low, p.low);
    const auto c = TwoSum(s.low, t.high), u = TwoSum(s.high, c.high), w = TwoSum(t.low, u.low);
    rounding = hn::Add(rounding, hn::Add(hn::Abs(c.low), hn::Abs(w.low)));
    const auto sum = FastTwoSum(u.high, w.high);
    high = sum.high;
    low = sum.low;
    drift = hn::Add(drift, hn::Mul(magnitude, hn::Set(d, of.drift[j])));
  }

  HWY_INLINE void Finish(D, const MeanWeights&) {}

  HWY_INLINE void AddDistance(D d, const MeanWeights& of, size_t j, V v) {
    const V magnitude = Magnitude(d, v);
    const V distance = hn::Add(hn::Abs(hn::Sub(v, high)), hn::Mul(magnitude, hn::Set(d, 0x1p-50)));
    const V own = hn::Mul(hn::Set(d, of.rounding[j]), magnitude);
    const V storing = hn::Mul(hn::Set(d, of.storing[j]), hn::Max(magnitude, distance));
    scores = hn::Add(scores, hn::Mul(hn::Set(d, of.rise[j]), distance));
    weights = hn::Add(weights, hn::Add(own, storing));
  }
};

// Level 1. Plain values are exact: |v| needs no factor, and WeightedMean::SetMean has one for the
// roundings of sums of bounds, the distances among them.
struct DoubleCenters : Columns {
  static constexpr size_t kPart = 32;
  V part;     // of `high`, of at most kPart rows
  V storing;  // of `weights`

  DoubleCenters() { part = storing = hn::Zero(D()); }

  HWY_INLINE void Add(D d, const MeanWeights& of, size_t j, V v) {
    const V magnitude = hn::Abs(v);
    least = hn::Min(least, v);
    most = hn::Max(most, v);
    size = hn::MulAdd(hn::Set(d, of.most[j]), magnitude, size);
    weights = hn::MulAdd(hn::Set(d, of.rounding[j]), magnitude, weights);
    part = hn::MulAdd(hn::Set(d, of.high[j]), v, part);
    if (j % kPart == kPart - 1) AddPart(d);
  }

  HWY_INLINE void AddPart(D d) {
    high = hn::Add(high, part);
    part = hn::Zero(d);
  }

  // In double, a product and its additions to a part and of the part to the sum err by at most
  // 2^-53 of the sum of the magnitudes so far, each (Higham 2002, 3.1 and 4.2): that of a part, or
  // all. The magnitudes add up to at most `size`: p <= P.
  HWY_INLINE void Finish(D d, const MeanWeights& of) {
    AddPart(d);
    const auto n = static_cast<double>(of.high.size());
    const V largest = hn::Max(hn::Abs(least), hn::Abs(most));
    const V bound = hn::Mul(size, hn::Set(d, 1 + n * 0x1p-52));
    rounding = hn::Mul(bound, hn::Set(d, (2 * kPart + n / kPart + 2) * 0x1p-53));
    drift = hn::MulAdd(bound, hn::Set(d, of.relative_drift),
                       hn::Mul(largest, hn::Set(d, n * kTinyDrift)));
  }

  HWY_INLINE void AddDistance(D d, const MeanWeights& of, size_t j, V v) {
    const V distance = hn::Abs(hn::Sub(v, high));
    scores = hn::MulAdd(hn::Set(d, of.rise[j]), distance, scores);
    storing = hn::MulAdd(hn::Set(d, of.storing[j]), hn::Max(hn::Abs(v), distance), storing);
  }

  void Store(D d, MeanSums* sums) {
    weights = hn::Add(weights, storing);
    Columns::Store(d, sums);
  }
};

// The sums of some vectors of columns: each waits for its own additions.
template <class Sums, size_t kVectors>
HWY_INLINE void SumVectors(const MeanWeights& weights, std::span<const float* const> rows,
                           size_t column, MeanSums* sums) {
  const D d;
  const hn::Rebind<float, D> narrow;
  const size_t lanes = hn::Lanes(d);
  std::array<Sums, kVectors> of;
  const auto load = [&](size_t j, size_t v) {
    return hn::PromoteTo(d, hn::LoadU(narrow, rows[j] + column + v * lanes));
  };
  for (size_t j = 0; j < rows.size(); ++j) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) of[v].Add(d, weights, j, load(j, v));
  }
  for (Sums& one : of) one.Finish(d, weights);
  for (size_t j = 0; j < rows.size(); ++j) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) of[v].AddDistance(d, weights, j, load(j, v));
  }
  for (size_t v = 0; v < kVectors; ++v) of[v].Store(d, sums + column + v * lanes);
}

template <class Sums>
void SumColumns(const MeanWeights& weights, std::span<const float* const> rows, size_t width,
                MeanSums* sums) {
  constexpr size_t kFew = HWY_MIN(2, kMeanColumns / hn::MaxLanes(D()));
  constexpr size_t kMany = (HWY_TARGET <= HWY_AVX3) ? 2 * kFew : kFew;
  const size_t lanes = hn::Lanes(D());
  size_t column = 0;
  for (; column + kMany * lanes <= width; column += kMany * lanes)
    SumVectors<Sums, kMany>(weights, rows, column, sums);
  for (; column < width; column += kFew * lanes)
    SumVectors<Sums, kFew>(weights, rows, column, sums);
}

}  // namespace

void SumPlainColumns(const MeanWeights& weights, std::span<const float* const> rows, size_t width,
                     bool double_centers, MeanSums* sums) {
  double_centers ? SumColumns<DoubleCenters>(weights, rows, width, sums)
                 : SumColumns<DoubleDoubleCenters>(weights, rows, width, sums);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(SumPlainColumns);

}  // namespace

void SumPlainColumns(const MeanWeights& weights, std::span<const float* const> rows, size_t width,
                     bool double_centers, std::vector<MeanSums>& sums) {
  sums.assign(width, {});
  HWY_DYNAMIC_DISPATCH(SumPlainColumns)(weights, rows, width, double_centers, sums.data());
}

}  // namespace sextant
#endif
