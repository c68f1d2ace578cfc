#include "reference/attention/mean_sums.h"

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

constexpr size_t kPart = 32;

// The sums of the columns of one vector.
template <bool kDoubleCenters>
struct Columns {
  V high, low, rounding, drift, least, most, size, scores, weights;
  V part;  // of `high`, of at most kPart rows

  Columns() {
    const D d;
    high = low = rounding = drift = size = scores = weights = part = hn::Zero(d);
    least = hn::Set(d, std::numeric_limits<double>::infinity());
    most = hn::Neg(least);
  }

  static HWY_INLINE V Magnitude(D d, V v) { return hn::Mul(hn::Abs(v), hn::Set(d, 1 + 0x1p-50)); }

  // The sums that do not need the mean.
  HWY_INLINE void Add(D d, const MeanWeights& of, size_t j, V v) {
    const V magnitude = Magnitude(d, v);
    least = hn::Min(least, v);
    most = hn::Max(most, v);
    size = hn::Add(size, hn::Mul(hn::Set(d, of.most[j]), magnitude));
    if constexpr (kDoubleCenters) {
      part = hn::MulAdd(hn::Set(d, of.high[j]), v, part);
      if (j % kPart == kPart - 1 || j + 1 == of.high.size()) {
        high = hn::Add(high, part);
        part = hn::Zero(d);
      }
      return;
    }
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

  // In double, a product and its additions to a part and of the part to the sum err by at most
  // 2^-53 of the sum of the magnitudes so far, each (Higham 2002, 3.1 and 4.2): that of a part, or
  // all. The magnitudes add up to at most `size`: p <= P.
  HWY_INLINE void BoundDrift(D d, const MeanWeights& of) {
    if constexpr (!kDoubleCenters) return;
    const auto n = static_cast<double>(of.high.size());
    const V largest = hn::Max(hn::Abs(least), hn::Abs(most));
    const V bound = hn::Mul(size, hn::Set(d, 1 + n * 0x1p-52));
    rounding = hn::Mul(bound, hn::Set(d, (2 * kPart + n / kPart + 2) * 0x1p-53));
    drift = hn::MulAdd(bound, hn::Set(d, of.relative_drift),
                       hn::Mul(largest, hn::Set(d, n * kTinyDrift)));
  }

  // The sums of distances from the mean.
  HWY_INLINE void AddDistance(D d, const MeanWeights& of, size_t j, V v) {
    const V magnitude = Magnitude(d, v);
    const V distance = hn::Add(hn::Abs(hn::Sub(v, high)), hn::Mul(magnitude, hn::Set(d, 0x1p-50)));
    const V own = hn::Mul(hn::Set(d, of.rounding[j]), magnitude);
    const V storing = hn::Mul(hn::Set(d, of.storing[j]), hn::Max(magnitude, distance));
    scores = hn::Add(scores, hn::Mul(hn::Set(d, of.rise[j]), distance));
    weights = hn::Add(weights, hn::Add(own, storing));
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

// Two vectors at a time: each waits for its own additions.
template <bool kDoubleCenters>
void SumColumns(const MeanWeights& weights, std::span<const float* const> rows, size_t width,
                MeanSums* sums) {
  const D d;
  const hn::Rebind<float, D> narrow;
  const size_t lanes = hn::Lanes(d), step = HWY_MIN(2 * lanes, kMeanColumns);
  const auto load = [&](const float* from) { return hn::PromoteTo(d, hn::LoadU(narrow, from)); };
  for (size_t column = 0; column < width; column += step) {
    const size_t next = column + (step - lanes);
    Columns<kDoubleCenters> first, second;
    for (size_t j = 0; j < rows.size(); ++j) {
      first.Add(d, weights, j, load(rows[j] + column));
      second.Add(d, weights, j, load(rows[j] + next));
    }
    first.BoundDrift(d, weights);
    second.BoundDrift(d, weights);
    for (size_t j = 0; j < rows.size(); ++j) {
      first.AddDistance(d, weights, j, load(rows[j] + column));
      second.AddDistance(d, weights, j, load(rows[j] + next));
    }
    first.Store(d, sums + column);
    second.Store(d, sums + next);
  }
}

}  // namespace

void SumPlainColumns(const MeanWeights& weights, std::span<const float* const> rows, size_t width,
                     bool double_centers, MeanSums* sums) {
  double_centers ? SumColumns<true>(weights, rows, width, sums)
                 : SumColumns<false>(weights, rows, width, sums);
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
