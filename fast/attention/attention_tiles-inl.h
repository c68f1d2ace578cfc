// Attention of a panel of queries to a tile of keys, for the instruction set being compiled. Each
// lane of a vector is a query. So maxima and sums over keys are vertical operations, and the
// weights of a tile are already packed for the product with the values.
#if defined(SEXTANT_FAST_ATTENTION_TILES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_FAST_ATTENTION_TILES_INL_H_
#undef SEXTANT_FAST_ATTENTION_TILES_INL_H_
#else
#define SEXTANT_FAST_ATTENTION_TILES_INL_H_
#endif

#include <hwy/highway.h>

#include <limits>

#include "fast/simd/activation-inl.h"
#include "fast/simd/exp-inl.h"
#include "fast/simd/matmul-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

constexpr size_t kMostLanes = 64;  // at least the lanes of a panel: 3 vectors of 16

// `width` lanes in full vectors. The first `count` lanes are queries; the others are unspecified.
// In all arrays the last axis is the query.
template <class C>
struct Panel {
  size_t count = 0, width = 0;
  const size_t* row = nullptr;     // row of each query in q, bias, y and lse
  const KeyRange* keys = nullptr;  // visible keys of each query
  KeyRange of_any, of_all;         // union (as one range) and intersection of `keys`
  const C* q = nullptr;            // [D,width]
  C* sums = nullptr;               // [E,width] sum_t e^(score - largest) v of the tiles so far
  C* largest = nullptr;            // [width]
  C* total = nullptr;              // [width] sum_t e^(score - largest)
};

// Keys first .. first + count - 1, packed as the first operand of MultiplyTile.
template <class C>
struct KeyTile {
  size_t first = 0, count = 0, D = 0, E = 0;
  const C* keys = nullptr;    // [count / kTileRows, D, kTileRows]
  const C* values = nullptr;  // [E / kTileRows, count, kTileRows]
  bool finite = true;         // all values are finite
};

// Converts a product of query and key to a score.
template <class C>
struct ScoreRule {
  C scale = 1, soft_cap = 0;  // 0: none
  std::optional<AddBias> add_bias{};
};

// The keys of a tile that are visible to a panel, and the range of each query.
template <class C>
struct VisibleKeys {
  size_t first = 0, last = 0;                      // indices in the tile
  bool by_all = false;                             // all queries see all these keys
  alignas(64) C from[kMostLanes], to[kMostLanes];  // indices in the tile; not set if by_all
};

template <class C>
HWY_INLINE void FindVisibleKeys(const Panel<C>& panel, const KeyTile<C>& tile,
                                VisibleKeys<C>& seen) {
  const size_t end = tile.first + tile.count;
  const auto within = [&](size_t t) { return std::clamp(t, tile.first, end) - tile.first; };
  seen.first = within(panel.of_any.first);
  seen.last = within(panel.of_any.last);
  seen.by_all = within(panel.of_all.first) <= seen.first && seen.last <= within(panel.of_all.last);
  if (seen.by_all) return;
  for (size_t j = 0; j < panel.width; ++j) {
    const KeyRange keys = j < panel.count ? panel.keys[j] : KeyRange{};
    seen.from[j] = static_cast<C>(within(keys.first));
    seen.to[j] = static_cast<C>(within(keys.last));
  }
}

template <class D, class C>
HWY_INLINE auto IsVisible(D d, const VisibleKeys<C>& seen, size_t lane, hn::VFromD<D> t) {
  return hn::And(hn::Ge(t, hn::Load(d, seen.from + lane)), hn::Lt(t, hn::Load(d, seen.to + lane)));
}

// c tanh(x / c)
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V Capped(D d, V x, V cap) {
  return hn::Mul(cap, TanhOf(d, hn::Div(x, cap)));
}

// Replaces products by scores, -infinity for masked keys. `most` becomes the largest of each query.
template <size_t kVectors, class C>
HWY_INLINE void Score(const ScoreRule<C>& rule, const VisibleKeys<C>& seen, const C* bias,
                      C* scores, C* most) {
  const hn::ScalableTag<C> d;
  using V = hn::VFromD<decltype(d)>;
  const size_t N = hn::Lanes(d), width = kVectors * N;
  const V scale = hn::Set(d, rule.scale), cap = hn::Set(d, rule.soft_cap);
  const V none = hn::Set(d, -std::numeric_limits<C>::infinity());
  V largest[kVectors];
  for (size_t v = 0; v < kVectors; ++v) largest[v] = none;
  const bool plain = seen.by_all && rule.soft_cap == 0 && !bias;
  for (size_t t = seen.first; t < seen.last; ++t) {
    for (size_t v = 0; v < kVectors; ++v) {
      C* at = scores + t * width + v * N;
      V s = hn::Load(d, at);
      if (!plain) {
        const V added = bias ? hn::Load(d, bias + t * width + v * N) : hn::Zero(d);
        if (rule.add_bias == AddBias::kBeforeScale) s = hn::Add(s, added);
        s = hn::Mul(s, scale);
        if (rule.add_bias == AddBias::kBeforeCap) s = hn::Add(s, added);
        if (rule.soft_cap != 0) s = Capped(d, s, cap);
        if (!rule.add_bias) s = hn::Add(s, added);
        if (!seen.by_all) {
          s = hn::IfThenElse(IsVisible(d, seen, v * N, hn::Set(d, static_cast<C>(t))), s, none);
        }
      } else {
        s = hn::Mul(s, scale);
      }
      largest[v] = hn::Max(largest[v], s);
      hn::Store(s, d, at);
    }
  }
  for (size_t v = 0; v < kVectors; ++v) hn::Store(largest[v], d, most + v * N);
}

// Updates the panel's `largest` by the scores of the tile, replaces scores by e^(score - largest),
// and adds these to the panel's `total`. `factor` becomes the factor for sums of earlier tiles.
template <size_t kVectors, class C>
HWY_INLINE void Weigh(const Panel<C>& panel, const VisibleKeys<C>& seen, C* scores, const C* most,
                      C* factor) {
  const hn::ScalableTag<C> d;
  using V = hn::VFromD<decltype(d)>;
  const size_t N = hn::Lanes(d), width = kVectors * N;
  V shift[kVectors], sum[kVectors];
  for (size_t v = 0; v < kVectors; ++v) {
    const V before = hn::Load(d, panel.largest + v * N);
    const V largest = hn::Max(before, hn::Load(d, most + v * N));
    // For queries without a visible key so far, e^(-infinity - 0) is 0.
    const V none = hn::Set(d, -std::numeric_limits<C>::infinity());
    shift[v] = hn::IfThenElse(hn::Eq(largest, none), hn::Zero(d), largest);
    sum[v] = hn::Zero(d);
    hn::Store(ExpOfNegative(d, hn::Sub(before, shift[v])), d, factor + v * N);
    hn::Store(largest, d, panel.largest + v * N);
  }
  for (size_t t = seen.first; t < seen.last; ++t) {
#pragma GCC unroll 3
    for (size_t v = 0; v < kVectors; ++v) {
      C* at = scores + t * width + v * N;
      const V e = ExpOfNegative(d, hn::Sub(hn::Load(d, at), shift[v]));
      sum[v] = hn::Add(sum[v], e);
      hn::Store(e, d, at);
    }
  }
  for (size_t v = 0; v < kVectors; ++v) {
    C* total = panel.total + v * N;
    hn::Store(hn::MulAdd(hn::Load(d, total), hn::Load(d, factor + v * N), sum[v]), d, total);
  }
}

// y = y factor + sum, with one factor per lane.
template <class C>
struct ScaleAndAddSum {
  C* y;
  size_t width;
  const C* factor;
  template <class D, class V>
  HWY_INLINE void operator()(D d, size_t r, size_t v, V sum) const {
    C* to = y + r * width + v * hn::Lanes(d);
    const V by = hn::Load(d, factor + v * hn::Lanes(d));
    hn::Store(hn::MulAdd(hn::Load(d, to), by, sum), d, to);
  }
};

// Adds the weighted values to the panel's sums, with masked values replaced by 0. For tiles with
// infinite values or NaN, because 0 times such a value is NaN.
template <size_t kVectors, class C>
HWY_NOINLINE void AddValuesSeen(const Panel<C>& panel, const KeyTile<C>& tile,
                                const VisibleKeys<C>& seen, const C* weights, const C* factor) {
  const hn::ScalableTag<C> d;
  const size_t N = hn::Lanes(d), width = kVectors * N;
  for (size_t e = 0; e < tile.E; ++e) {
    const C* value = tile.values + e / kTileRows * tile.count * kTileRows + e % kTileRows;
    for (size_t v = 0; v < width; v += N) {
      auto sum = hn::Zero(d);
      for (size_t t = seen.first; t < seen.last; ++t) {
        const auto is_seen = IsVisible(d, seen, v, hn::Set(d, static_cast<C>(t)));
        const auto x = hn::IfThenElseZero(is_seen, hn::Set(d, value[t * kTileRows]));
        sum = hn::MulAdd(hn::Load(d, weights + t * width + v), x, sum);
      }
      ScaleAndAddSum<C>{panel.sums + e * width + v, width, factor + v}(d, 0, 0, sum);
    }
  }
}

// scores[kTileKeys,width] is scratch memory. bias[kTileKeys,width] has rows seen.first ..
// seen.last - 1.
template <size_t kVectors, class C>
HWY_NOINLINE void AttendInVectors(const ScoreRule<C>& rule, const Panel<C>& panel,
                                  const KeyTile<C>& tile, const VisibleKeys<C>& seen, const C* bias,
                                  C* scores) {
  const size_t width = panel.width;
  for (size_t t = seen.first / kTileRows * kTileRows; t < seen.last; t += kTileRows) {
    MultiplyTile<kVectors>(tile.D, tile.keys + t * tile.D, panel.q,
                           StoreSum<C>{scores + t * width, static_cast<ptrdiff_t>(width)});
  }
  alignas(64) C most[kMostLanes], factor[kMostLanes];
  Score<kVectors>(rule, seen, bias, scores, most);
  Weigh<kVectors>(panel, seen, scores, most, factor);
  if (!seen.by_all && !tile.finite) {
    return AddValuesSeen<kVectors>(panel, tile, seen, scores, factor);
  }
  for (size_t e = 0; e < tile.E; e += kTileRows) {
    MultiplyTile<kVectors>(
        seen.last - seen.first, tile.values + e * tile.count + seen.first * kTileRows,
        scores + seen.first * width, ScaleAndAddSum<C>{panel.sums + e * width, width, factor});
  }
}

template <class C>
HWY_INLINE void AttendToTile(const ScoreRule<C>& rule, const Panel<C>& panel,
                             const KeyTile<C>& tile, const VisibleKeys<C>& seen, const C* bias,
                             C* scores) {
  const size_t vectors = panel.width / hn::Lanes(hn::ScalableTag<C>());
  if (vectors == 1) return AttendInVectors<1>(rule, panel, tile, seen, bias, scores);
  if (vectors == 2) return AttendInVectors<2>(rule, panel, tile, seen, bias, scores);
  if constexpr (kTileVectors == 3) AttendInVectors<3>(rule, panel, tile, seen, bias, scores);
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#endif
