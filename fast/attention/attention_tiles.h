// Attention in tiles: panels of queries, as many as registers hold, meet tiles of keys, and keep a
// running maximum and sum (Milakov, Gimelshein 2018, arXiv:1805.02867; Dao et al. 2022,
// arXiv:2205.14135). The formula: reference/attention/attention.h.
#pragma once

#include <algorithm>
#include <cstddef>

#include "fast/attention/attend_rows.h"
#include "fast/simd/element.h"
#include "fast/simd/matmul.h"

namespace sextant::fast {

// Keys of a tile: a multiple of the rows of every tile of registers. Queries that share the packed
// keys: a multiple of every panel.
inline constexpr size_t kTileKeys = 192, kBlockQueries = 528;

// The scratch memory of AttendTiles, in elements; every part begins a line of the cache if the
// first does.
struct TilesMemory {
  size_t queries = 0, q = 0, sums = 0, keys = 0, values = 0, scores = 0, bias = 0, turned = 0;
  size_t total() const {
    return 2 * queries + q + sums + keys + values + scores + bias + turned + kScratchAlign;
  }
};
template <Element T>
TilesMemory MemoryOf(const AttendInputs<T>& in) {
  constexpr size_t kLine = kScratchAlign / sizeof(Computed<T>), kLanes = 64;
  const auto up = [](size_t count, size_t to) { return (count + to - 1) / to * to; };
  const AttentionAttributes& op = *in.attributes;
  const size_t rows =
      static_cast<size_t>(op.K.value == 0 ? 0 : op.H.value / op.K.value * op.S.value);
  const size_t queries = std::min(kBlockQueries, up(rows, kLanes)),
               keys = std::min(kTileKeys, up(static_cast<size_t>(op.T.value), 48)),
               E = up(in.E + 5, 8);
  return {queries,
          queries * in.D,
          queries * E,
          up(keys * in.D, kLine),
          keys * E,
          keys * kLanes,
          in.bias ? keys * kLanes : 0,
          kLanes * E};
}

// Elements of scratch memory that AttendTiles needs.
template <Element T>
size_t TilesScratchOf(const AttendInputs<T>& in);

// What AttendRows answers. Query heads that share a key head share its tiles; tiles that no query
// of a panel sees are skipped. Keys that a query does not see do not count, whatever they hold.
// Computes in f32 (f64 for f64) and rounds once. Weights are divided by their sum after the mean is
// taken, so sums of values must be finite.
// Error before the last rounding, of T keys whose scores span a range r: e^2E - 1 times
// sum_t p_t |v_t|, where E = 2 e + 2 r u + (T + 4 T / kTileKeys + 18) u, and e, the error of a
// score, is (D + 12) u of the sum of the sizes of its terms.
template <Element T>
void AttendTiles(const AttendInputs<T>& in, T* y, Computed<T>* lse, Computed<T>* scratch) noexcept;

}  // namespace sextant::fast
