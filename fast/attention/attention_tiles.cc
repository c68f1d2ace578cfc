#include "fast/attention/attention_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/attention/attention_tiles.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "fast/attention/attend_row-inl.h"
#include "fast/attention/attention_tiles-inl.h"
#include "fast/simd/any_element.h"
#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// Rows of a row-major matrix in any order, as an operand of PackTile.
template <class T>
struct GatheredRows {
  const T* data;
  const size_t* index;
  size_t width;
  static constexpr ptrdiff_t row = 0, column = 1;
  const T* at(size_t r, size_t k) const { return data + index[r] * width + k; }
};

// Attention of the queries of each key head, in the order (s, head), in blocks of kBlockQueries.
template <class T, class C = Computed<T>>
class TiledAttention {
 public:
  TiledAttention(const AttendInputs<T>& in, T* y, C* lse, C* scratch)
      : in_(in), op_(*in.attributes), y_(y), lse_(lse) {
    rule_ = {static_cast<C>(in.scale), static_cast<C>(op_.soft_cap.value_or(0)), in.add_bias};
    const TilesMemory memory = MemoryOf(in);
    const size_t past = reinterpret_cast<uintptr_t>(scratch) % kScratchAlign / sizeof(C);
    C* at = scratch + (past == 0 ? 0 : kScratchAlign / sizeof(C) - past);
    const auto take = [&](size_t count) {
      at += count;
      return at - count;
    };
    q_ = take(memory.q);
    sums_ = take(memory.sums);
    keys_ = take(memory.keys);
    values_ = take(memory.values);
    scores_ = take(memory.scores);
    bias_ = take(memory.bias);
    transposed_ = take(memory.transposed);
    largest_ = take(memory.queries);
    total_ = take(memory.queries);
  }

  HWY_INLINE void Run(const Units& blocks) {
    if (blocks.count == 0) return;
    const size_t group = static_cast<size_t>(op_.H.value / op_.K.value),
                 queries = group * static_cast<size_t>(op_.S.value),
                 of_head = (queries + kBlockQueries - 1) / kBlockQueries;
    for (size_t i = blocks.first; i < blocks.first + blocks.count; ++i) {
      const size_t r = i % of_head * kBlockQueries;
      ComputeBlock(i / of_head, group, r, std::min(kBlockQueries, queries - r));
    }
  }

 private:
  // Computes queries r0 .. r0 + count - 1 of the key head.
  HWY_INLINE void ComputeBlock(size_t head, size_t group, size_t r0, size_t count) {
    const auto K = static_cast<size_t>(op_.K.value), S = static_cast<size_t>(op_.S.value);
    for (size_t r = 0; r < count; ++r) {
      const size_t s = (r0 + r) / group;
      row_[r] = (head * group + (r0 + r) % group) * S + s;
      range_[r] = op_.KeysOf(head / K, s);
    }
    const KeyRange keys = MakePanels(count);
    for (size_t first = keys.first; first < keys.last; first += kTileKeys) {
      ComputeTile(head, first, std::min(kTileKeys, keys.last - first));
    }
    for (size_t p = 0; p < panels_; ++p) FinishPanel(panel_[p]);
  }

  // Returns a range that contains all keys visible to any of the queries.
  HWY_INLINE KeyRange MakePanels(size_t count) {
    const size_t N = hn::Lanes(hn::ScalableTag<C>()), most = kTileVectors * N;
    KeyRange all{SIZE_MAX, 0};
    panels_ = 0;
    for (size_t r = 0; r < count; r += most) {
      Panel<C>& panel = panel_[panels_++];
      panel = Panel<C>();
      panel.count = std::min(most, count - r);
      panel.row = row_.data() + r;
      panel.width = (panel.count + N - 1) / N * N;
      panel.keys = range_.data() + r;
      panel.largest = largest_ + r;
      panel.total = total_ + r;
      panel.sums = sums_ + r * PaddedE();
      C* q = q_ + r * in_.D;
      panel.q = q;
      SetRanges(panel);
      all.first = std::min(all.first, panel.of_any.first);
      all.last = std::max(all.last, panel.of_any.last);
      std::fill_n(panel.sums, panel.width * PaddedE(), C{0});
      std::fill_n(panel.total, panel.width, C{0});
      std::fill_n(panel.largest, panel.width, -std::numeric_limits<C>::infinity());
      PackTile<T>(GatheredRows<T>{in_.q, panel.row, in_.D}, panel.count, in_.D, panel.width, q);
    }
    return all;
  }

  static void SetRanges(Panel<C>& panel) {
    panel.of_any = {SIZE_MAX, 0};
    panel.of_all = {0, SIZE_MAX};
    for (size_t j = 0; j < panel.count; ++j) {
      const KeyRange& keys = panel.keys[j];
      panel.of_all = {std::max(panel.of_all.first, keys.first),
                      std::min(panel.of_all.last, keys.last)};
      if (keys.IsEmpty()) continue;
      panel.of_any = {std::min(panel.of_any.first, keys.first),
                      std::max(panel.of_any.last, keys.last)};
    }
  }

  HWY_INLINE void ComputeTile(size_t head, size_t first, size_t count) {
    const auto sees = [&](const Panel<C>& panel) {
      return panel.of_any.first < first + count && first < panel.of_any.last;
    };
    if (std::none_of(panel_.begin(), panel_.begin() + panels_, sees)) return;
    const size_t at = head * static_cast<size_t>(op_.T.value) + first;
    const auto D = static_cast<ptrdiff_t>(in_.D), E = static_cast<ptrdiff_t>(in_.E);
    PackTiles<T>({in_.k + at * in_.D, D, 1}, count, in_.D, kTileRows, keys_);
    PackTiles<T>({in_.v + at * in_.E, 1, E}, in_.E, count, kTileRows, values_);
    const KeyTile<C> tile{.first = first,
                          .count = count,
                          .D = in_.D,
                          .E = in_.E,
                          .keys = keys_,
                          .values = values_,
                          .finite = AreFinite(values_, PaddedE() * count)};
    for (size_t p = 0; p < panels_; ++p) {
      if (!sees(panel_[p])) continue;
      VisibleKeys<C> seen;
      FindVisibleKeys(panel_[p], tile, seen);
      const C* bias = in_.bias ? BiasOf(panel_[p], tile, seen) : nullptr;
      AttendToTile(rule_, panel_[p], tile, seen, bias, scores_);
    }
  }

  // Returns bias[kTileKeys,width], of which rows seen.first .. seen.last - 1 are set.
  HWY_INLINE const C* BiasOf(const Panel<C>& panel, const KeyTile<C>& tile,
                             const VisibleKeys<C>& seen) {
    const GatheredRows<T> from{in_.bias + tile.first + seen.first, panel.row,
                               static_cast<size_t>(op_.T.value)};
    PackTile<T>(from, panel.count, seen.last - seen.first, panel.width,
                bias_ + seen.first * panel.width);
    return bias_;
  }

  // x * 0 is 0 if x is finite, otherwise NaN.
  HWY_INLINE static bool AreFinite(const C* x, size_t count) {
    const hn::ScalableTag<C> d;
    auto sum = hn::Zero(d);
    size_t i = 0;
    for (; i + hn::Lanes(d) <= count; i += hn::Lanes(d)) {
      sum = hn::MulAdd(hn::LoadU(d, x + i), hn::Zero(d), sum);
    }
    C zero = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; i < count; ++i) zero += x[i] * 0;
    return zero == 0;
  }

  // Writes y and lse of a panel.
  HWY_INLINE void FinishPanel(const Panel<C>& panel) {
    const hn::ScalableTag<C> d;
    const auto width = static_cast<ptrdiff_t>(panel.width);
    PackTile<C>(Matrix<C>{panel.sums, width, 1}, in_.E, panel.count, in_.E, transposed_);
    for (size_t j = 0; j < panel.count; ++j) {
      const C by = FactorOf(panel, j);
      T* y = y_ + panel.row[j] * in_.E;
      WriteEach(d, in_.E, y, [&](auto dk, size_t k) SEXTANT_INLINE {
        const auto sum = hn::LoadU(dk, transposed_ + j * in_.E + k);
        return hn::Mul(sum, hn::Set(dk, by));
      });
    }
  }

  // Returns the factor for the sums of a query, and sets its lse.
  C FactorOf(const Panel<C>& panel, size_t j) {
    const Powers<C> powers{panel.largest[j], panel.total[j]};
    const size_t row = panel.row[j];
    lse_[row] = powers.sum == 0 ? powers.largest : powers.largest + std::log(powers.sum);
    if (powers.sum == 0) return 0;
    const auto S = static_cast<size_t>(op_.S.value), H = static_cast<size_t>(op_.H.value);
    return Reciprocal(powers, in_.sink ? in_.sink + row / S % H : nullptr);
  }

  size_t PaddedE() const { return (in_.E + kTileRows - 1) / kTileRows * kTileRows; }

  const AttendInputs<T>& in_;
  const AttentionAttributes& op_;
  T* y_;
  C* lse_;
  ScoreRule<C> rule_;
  C *q_, *sums_, *keys_, *values_, *scores_, *bias_, *transposed_, *largest_, *total_;
  std::array<size_t, kBlockQueries> row_;
  std::array<KeyRange, kBlockQueries> range_;
  std::array<Panel<C>, kBlockQueries / 2> panel_;
  size_t panels_ = 0;
};

void TileElements(DType dtype, const void* in, Units blocks, UntypedOutput y, UntypedOutput lse,
                  UntypedOutput scratch) {
  WithElement(dtype, [=]<class T>() HWY_ATTR {
    TiledAttention<T>(*static_cast<const AttendInputs<T>*>(in), y, lse, scratch).Run(blocks);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(TileElements);

template <Element T>
size_t TilesScratchOf(const AttendInputs<T>& in) {
  return MemoryOf(in).total();
}

template <Element T>
void AttendTiles(const AttendInputs<T>& in, const Units& blocks, T* y, Computed<T>* lse,
                 Computed<T>* scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(TileElements)(kDType<T>, &in, blocks, y, lse, scratch);
}

template size_t TilesScratchOf(const AttendInputs<double>&);
template size_t TilesScratchOf(const AttendInputs<float>&);
template size_t TilesScratchOf(const AttendInputs<F16>&);
template size_t TilesScratchOf(const AttendInputs<BF16>&);
template void AttendTiles(const AttendInputs<double>&, const Units&, double*, double*,
                          double*) noexcept;
template void AttendTiles(const AttendInputs<float>&, const Units&, float*, float*,
                          float*) noexcept;
template void AttendTiles(const AttendInputs<F16>&, const Units&, F16*, float*, float*) noexcept;
template void AttendTiles(const AttendInputs<BF16>&, const Units&, BF16*, float*, float*) noexcept;

}  // namespace sextant::fast
#endif
