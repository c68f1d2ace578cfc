// Tiled attention: a panel of queries, limited by the number of registers, is combined with tiles
// of keys and keeps a running maximum and sum (Milakov, Gimelshein 2018, arXiv:1805.02867; Dao et
// al. 2022, arXiv:2205.14135). The formula: reference/attention/attention.h.
#pragma once

#include <algorithm>
#include <cstddef>

#include "fast/attention/attend_rows.h"
#include "fast/simd/element.h"
#include "fast/simd/matmul.h"

namespace sextant::fast {

// Keys per tile: a multiple of kTileRows on every target. Queries per block, which share the packed
// keys: a multiple of every panel width.
inline constexpr size_t kTileKeys = 192, kBlockQueries = 528;

// Sizes of the parts of AttendTiles' scratch memory, in elements. If the first part is aligned to a
// cache line, so are the others.
struct TilesMemory {
  size_t queries = 0, q = 0, sums = 0, keys = 0, values = 0, scores = 0, bias = 0, transposed = 0;
  size_t total() const {
    return 2 * queries + q + sums + keys + values + scores + bias + transposed + kScratchAlign;
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

// All blocks of queries: kBlockQueries each, or fewer at the end, of one key head after another.
template <Element T>
Units BlocksOf(const AttendInputs<T>& in) {
  const AttentionAttributes& op = *in.attributes;
  if (op.K.value == 0) return {};
  const auto queries = static_cast<size_t>(op.H.value / op.K.value * op.S.value);
  return {0, static_cast<size_t>(op.B.value * op.K.value) *
                 ((queries + kBlockQueries - 1) / kBlockQueries)};
}

// Computes the same as AttendRows, for these blocks of queries. Query heads with the same key head
// share its tiles; tiles without visible keys are skipped. Masked keys have no effect, also if they
// are NaN or infinite. Computes in f32 (f64 for f64) and rounds once. Sums of weighted values are
// divided by the sum of weights at the end, so they must be finite. Error before the last rounding,
// for T keys whose scores have range r:
//   (e^2E - 1) sum_t p_t |v_t|,  E = 2 e + 2 r u + (T + 4 T / kTileKeys + 18) u
// e, the error of a score, is (D + 12) u times the sum of the sizes of its terms.
template <Element T>
void AttendTiles(const AttendInputs<T>& in, const Units& blocks, T* y, Computed<T>* lse,
                 Computed<T>* scratch) noexcept;

}  // namespace sextant::fast
