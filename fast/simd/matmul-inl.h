// Matrix products y = a b^T, for the instruction set being compiled. Panels of both operands are
// packed (and widened to Computed<T>), then multiplied tile by tile in registers, as in Goto and
// van de Geijn 2008, doi:10.1145/1356052.1356053. One row alone is multiplied without packing.
// Each element of y is a sum over k in increasing order, with fused multiply-add where the
// instruction set has it, in blocks of kBlockK that are added in order. So the bits of an element
// depend neither on N and F nor on its position in y.
#if defined(SEXTANT_FAST_MATMUL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_FAST_MATMUL_INL_H_
#undef SEXTANT_FAST_MATMUL_INL_H_
#else
#define SEXTANT_FAST_MATMUL_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "fast/simd/element-inl.h"
#include "fast/simd/matmul.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// The accumulators of a tile, a row of b and a broadcast fill the registers: 32 in AVX-512,
// else 16.
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr size_t kTileRows = 8, kTileVectors = 3;
#else
constexpr size_t kTileRows = 6, kTileVectors = 2;
#endif
template <class C>
HWY_INLINE size_t TileColumns() {
  return kTileVectors * hn::Lanes(hn::ScalableTag<C>());
}

// Transposes a block of 4 x 4 elements. Highway's functions are called unqualified because the
// scalar target lacks some of them.
template <class T, class From, class C = Computed<T>>
HWY_INLINE void PackFourByFour(const From& from, size_t r0, size_t k0, size_t stride, C* to) {
  const hn::CappedTag<C, 16 / sizeof(C)> d;
  if constexpr (hn::MaxLanes(d) == 4) {
    const hn::Repartition<double, decltype(d)> pairs;
    const auto pair = [=](auto v) SEXTANT_INLINE { return hn::BitCast(pairs, v); };
    const auto store = [=](size_t k, auto v)
                           SEXTANT_INLINE { hn::StoreU(hn::BitCast(d, v), d, to + k * stride); };
    const auto a = Read(d, from.at(r0, k0)), b = Read(d, from.at(r0 + 1, k0)),
               c = Read(d, from.at(r0 + 2, k0)), e = Read(d, from.at(r0 + 3, k0));
    const auto low01 = pair(InterleaveLower(d, a, b)), low23 = pair(InterleaveLower(d, c, e)),
               high01 = pair(InterleaveUpper(d, a, b)), high23 = pair(InterleaveUpper(d, c, e));
    store(0, InterleaveLower(pairs, low01, low23));
    store(1, InterleaveUpper(pairs, low01, low23));
    store(2, InterleaveLower(pairs, high01, high23));
    store(3, InterleaveUpper(pairs, high01, high23));
  } else if constexpr (hn::MaxLanes(d) == 2) {
    for (size_t k = 0; k < 4; k += 2) {
      for (size_t r = 0; r < 4; r += 2) {
        const auto a = Read(d, from.at(r0 + r, k0 + k)), b = Read(d, from.at(r0 + r + 1, k0 + k));
        hn::StoreU(InterleaveLower(d, a, b), d, to + k * stride + r);
        hn::StoreU(InterleaveUpper(d, a, b), d, to + (k + 1) * stride + r);
      }
    }
  } else {
    for (size_t k = 0; k < 4; ++k) {
      for (size_t r = 0; r < 4; ++r) {
        to[k * stride + r] = hn::GetLane(Read(d, from.at(r0 + r, k0 + k)));
      }
    }
  }
}

// packed[k * width + r] = from(r, k) for r < rows, and 0 for rows <= r < width; k < K. From is
// Matrix, or a class with the same members at(), row and column; row is 0 if the rows have no fixed
// distance.
template <class T, class From = Matrix<T>, class C = Computed<T>>
HWY_INLINE void PackTile(const From& from, size_t rows, size_t K, size_t width, C* packed) {
  const hn::ScalableTag<C> d;
  const hn::CappedTag<C, 1> one;
  size_t k = 0, whole = 0;  // columns before k are done for the rows before `whole`
  if (from.row == 1) {
    for (; k < K; ++k) {
      ForEachVector(d, rows, [&](auto dr, size_t r) SEXTANT_INLINE {
        hn::StoreU(Read(dr, from.at(r, k)), dr, packed + k * width + r);
      });
    }
    whole = rows;
  } else if (from.column == 1) {
    // One cache line of each row at a time: rows whose distance is a power of two compete for the
    // same cache sets.
    constexpr size_t kLine = 64 / sizeof(T);
    whole = rows / 4 * 4;
    for (; k + 4 <= K; k += std::min(kLine, (K - k) / 4 * 4)) {
      const size_t end = k + std::min(kLine, (K - k) / 4 * 4);
      for (size_t r = 0; r < whole; r += 4) {
        for (size_t i = k; i < end; i += 4) {
          PackFourByFour<T>(from, r, i, width, packed + i * width + r);
        }
      }
    }
  }
  const auto copy = [&](size_t r, size_t column) SEXTANT_INLINE {
    packed[column * width + r] = hn::GetLane(Read(one, from.at(r, column)));
  };
  for (; k < K; ++k) {
    for (size_t r = 0; r < whole; ++r) copy(r, k);
  }
  for (k = 0; k < K; ++k) {
    for (size_t r = whole; r < rows; ++r) copy(r, k);
    for (size_t r = rows; r < width; ++r) packed[k * width + r] = 0;
  }
}

template <class T, class C = Computed<T>>
HWY_INLINE void PackTiles(const Matrix<T>& from, size_t rows, size_t K, size_t width, C* packed) {
  for (size_t r = 0; r < rows; r += width, packed += K * width) {
    PackTile<T>({from.at(r, 0), from.row, from.column}, std::min(width, rows - r), K, width,
                packed);
  }
}

// Finish functions of MultiplyTile: they store or add vector v of row r to the tile at y.
template <class C>
struct StoreSum {
  C* y;
  ptrdiff_t y_row;
  template <class D, class V>
  HWY_INLINE void operator()(D d, size_t r, size_t v, V sum) const {
    hn::StoreU(sum, d, y + static_cast<ptrdiff_t>(r) * y_row + v * hn::Lanes(d));
  }
};
template <class C>
struct AddSum {
  C* y;
  ptrdiff_t y_row;
  template <class D, class V>
  HWY_INLINE void operator()(D d, size_t r, size_t v, V sum) const {
    C* to = y + static_cast<ptrdiff_t>(r) * y_row + v * hn::Lanes(d);
    hn::StoreU(hn::Add(hn::LoadU(d, to), sum), d, to);
  }
};

// Computes one tile, kTileRows rows of kVectors vectors, from packed panels a and b.
template <size_t kVectors = kTileVectors, class C, class Finish>
HWY_INLINE void MultiplyTile(size_t K, const C* HWY_RESTRICT a, const C* HWY_RESTRICT b,
                             const Finish& finish) {
  const hn::ScalableTag<C> d;
  using V = hn::VFromD<decltype(d)>;
  const size_t N = hn::Lanes(d);
  V sum[kTileRows][kVectors];
#pragma GCC unroll 8
  for (size_t r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 3
    for (size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::Zero(d);
  }
  for (size_t k = 0; k < K; ++k, a += kTileRows, b += kVectors * N) {
    V column[kVectors];
#pragma GCC unroll 3
    for (size_t v = 0; v < kVectors; ++v) column[v] = hn::LoadU(d, b + v * N);
#pragma GCC unroll 8
    for (size_t r = 0; r < kTileRows; ++r) {
      const V factor = hn::Set(d, a[r]);
#pragma GCC unroll 3
      for (size_t v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(factor, column[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (size_t r = 0; r < kTileRows; ++r) {
#pragma GCC unroll 3
    for (size_t v = 0; v < kVectors; ++v) finish(d, r, v, sum[r][v]);
  }
}

// Computes a tile at the edge of y and writes only its first `rows` rows and `columns` columns.
template <class C>
HWY_INLINE void MultiplyEdge(size_t K, const C* a, const C* b, C* y, ptrdiff_t y_row, bool adds,
                             size_t rows, size_t columns) {
  C tile[kTileRows * kTileVectors * hn::MaxLanes(hn::ScalableTag<C>())];
  const size_t width = TileColumns<C>();
  MultiplyTile(K, a, b, StoreSum<C>{tile, static_cast<ptrdiff_t>(width)});
  for (size_t r = 0; r < rows; ++r, y += y_row) {
    for (size_t f = 0; f < columns; ++f) {
      const C sum = tile[r * width + f];
      y[f] = adds ? y[f] + sum : sum;
    }
  }
}

// A word is what is transposed at a time: an element in f32, or two adjacent elements of 16 bits,
// which WordToColumns widens afterwards. f16 is widened first where halves of words cannot be
// narrowed by one instruction.
template <class T>
constexpr size_t kPerWord = std::same_as<T, BF16> || (std::same_as<T, F16> && kConvertsF16 &&
                                                      hn::MaxLanes(hn::ScalableTag<float>()) == 16)
                                ? 2
                                : 1;

// The words of row r from column k on; of 16 lanes eight, and those of row r + 8 behind them.
template <class T, class D>
HWY_INLINE hn::VFromD<D> WordsOfRow(D d, const Matrix<T>& from, size_t r, size_t k) {
  if constexpr (hn::MaxLanes(d) == 16) {
    const hn::Half<D> half;
    return Combine(d, WordsOfRow(half, from, r + 8, k), WordsOfRow(half, from, r, k));
  } else if constexpr (kPerWord<T> == 2) {
    const hn::Repartition<uint16_t, D> d16;
    return hn::BitCast(d, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from.at(r, k))));
  } else {
    return Read(d, from.at(r, k));
  }
}

// Transposes the words of four rows within each block of four lanes.
template <class T, class D>
HWY_INLINE void FourRows(D d, const Matrix<T>& from, size_t r, size_t k, hn::VFromD<D>* columns) {
  const hn::Repartition<double, D> pairs;
  const auto pair = [=](auto v) SEXTANT_INLINE { return hn::BitCast(pairs, v); };
  const auto r0 = WordsOfRow(d, from, r, k), r1 = WordsOfRow(d, from, r + 1, k),
             r2 = WordsOfRow(d, from, r + 2, k), r3 = WordsOfRow(d, from, r + 3, k);
  const auto low01 = pair(InterleaveLower(d, r0, r1)), low23 = pair(InterleaveLower(d, r2, r3)),
             high01 = pair(InterleaveUpper(d, r0, r1)), high23 = pair(InterleaveUpper(d, r2, r3));
  columns[0] = hn::BitCast(d, InterleaveLower(pairs, low01, low23));
  columns[1] = hn::BitCast(d, InterleaveUpper(pairs, low01, low23));
  columns[2] = hn::BitCast(d, InterleaveLower(pairs, high01, high23));
  columns[3] = hn::BitCast(d, InterleaveUpper(pairs, high01, high23));
}

// Calls take(i, word i of each of Lanes(d) rows) for i < kWords: 4 with 4 lanes, else 8 or 16. Of
// 16 words whole cache lines of few rows are read before the next ones: rows whose distance is a
// power of two compete for the same few places of the first cache.
constexpr bool kHasFourLanes = hn::MaxLanes(hn::ScalableTag<float>()) == 4;
template <size_t kWords, class T, class D, class Take>
HWY_INLINE void TransposeWords(D d, const Matrix<T>& from, size_t r, size_t k, const Take& take) {
  using V = hn::VFromD<D>;
  V a[4];
  FourRows(d, from, r, k, a);
  if constexpr (hn::MaxLanes(d) == 4) {
    for (size_t i = 0; i < 4; ++i) take(i, a[i]);
  } else {
    V more[4], b[4];
    if constexpr (kWords == 16) FourRows(d, from, r, k + 8 * kPerWord<T>, more);
    const auto take_eight = [&](size_t first, const V* upper, const V* lower) SEXTANT_INLINE {
      for (size_t i = 0; i < 4; ++i)
        take(first + i, hn::OddEvenBlocks(hn::SwapAdjacentBlocks(lower[i]), upper[i]));
      for (size_t i = 0; i < 4; ++i)
        take(first + 4 + i, hn::OddEvenBlocks(lower[i], hn::SwapAdjacentBlocks(upper[i])));
    };
    FourRows(d, from, r + 4, k, b);
    take_eight(0, a, b);
    if constexpr (kWords == 16) {
      FourRows(d, from, r + 4, k + 8 * kPerWord<T>, b);
      take_eight(8, more, b);
    }
  }
}

// Calls take(i, element i of each word) for i < kPerWord.
template <class T, class D, class Take>
HWY_INLINE void WordToColumns(D d, hn::VFromD<D> words, const Take& take) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, words);
  if constexpr (kPerWord<T> == 1) {
    take(0, words);
  } else if constexpr (std::same_as<T, BF16>) {
    take(0, hn::BitCast(d, hn::ShiftLeft<16>(bits)));
    take(1, hn::BitCast(d, hn::And(bits, hn::Set(du, 0xffff0000))));
  } else {
    const hn::Rebind<uint16_t, D> d16;
    const hn::Rebind<hwy::float16_t, D> half;
    const auto widen = [=](auto low) SEXTANT_INLINE {
      return PromoteTo(d, BitCast(half, TruncateTo(d16, low)));
    };
    take(0, widen(bits));
    take(1, widen(hn::ShiftRight<16>(bits)));
  }
}

// One row of y for whole groups of kVectors vectors of columns, from column f on; returns its end.
// Rows of b are transposed in registers and not packed, because each is used once. The sums of two
// vectors do not wait for each other.
template <size_t kVectors, class TA, class TB>
HWY_INLINE size_t MultiplyRow(const ProductShape& shape, const Matrix<TA>& a, const Matrix<TB>& b,
                              size_t f, float* y) {
  const hn::ScalableTag<float> d;
  const hn::CappedTag<float, 1> one;
  const size_t N = hn::Lanes(d);
  float factors[kBlockK];
  for (; f + kVectors * N <= shape.F; f += kVectors * N) {
    for (size_t k0 = 0; k0 < shape.K; k0 += kBlockK) {
      const size_t K = std::min(kBlockK, shape.K - k0);
      PackTile<TA>({a.at(0, k0), a.column, a.row}, K, 1, K, factors);
      const Matrix<TB> rows{b.at(f, k0), b.row, b.column};
      hn::VFromD<decltype(d)> sum[kVectors];
      for (size_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
      size_t k = 0;
      const auto add_words = [&]<size_t kWords>() SEXTANT_INLINE {
        constexpr size_t kStep = kWords * kPerWord<TB>;
        for (; k + kStep <= K; k += kStep) {
#pragma GCC unroll 2
          for (size_t v = 0; v < kVectors; ++v) {
            TransposeWords<kWords>(d, rows, v * N, k, [&](size_t word, auto words) SEXTANT_INLINE {
              const float* factor = factors + k + word * kPerWord<TB>;
              WordToColumns<TB>(d, words, [&](size_t i, auto column) SEXTANT_INLINE {
                sum[v] = hn::MulAdd(hn::Set(d, factor[i]), column, sum[v]);
              });
            });
          }
        }
      };
      if constexpr (!kHasFourLanes) add_words.template operator()<16>();
      add_words.template operator()<kHasFourLanes ? 4 : 8>();
      for (; k < K; ++k) {
        for (size_t v = 0; v < kVectors; ++v) {
          float column[hn::MaxLanes(d)];
          for (size_t r = 0; r < N; ++r) column[r] = hn::GetLane(Read(one, rows.at(v * N + r, k)));
          sum[v] = hn::MulAdd(hn::Set(d, factors[k]), hn::LoadU(d, column), sum[v]);
        }
      }
      for (size_t v = 0; v < kVectors; ++v) {
        float* const to = y + f + v * N;
        hn::StoreU(k0 == 0 ? sum[v] : hn::Add(hn::LoadU(d, to), sum[v]), d, to);
      }
    }
  }
  return f;
}

template <class TA, class TB, class C = Computed<TA>>
HWY_INLINE void MultiplyPacked(const ProductShape& shape, const Matrix<TA>& a, const Matrix<TB>& b,
                               C* y, ptrdiff_t y_row, C* scratch) {
  const size_t width = TileColumns<C>();
  const size_t most_columns = kBlockColumns / width * width,
               most_rows = kBlockRows / kTileRows * kTileRows;
  // Aligned to cache lines, so that no vector load crosses two lines.
  const size_t past = reinterpret_cast<uintptr_t>(scratch) % kScratchAlign / sizeof(C);
  C* packed_b = scratch + (past == 0 ? 0 : kScratchAlign / sizeof(C) - past);
  C* packed_a = packed_b + kBlockK * kBlockColumns;
  if (shape.K == 0) {
    for (size_t n = 0; n < shape.N; ++n)
      std::fill_n(y + static_cast<ptrdiff_t>(n) * y_row, shape.F, C{0});
  }
  for (size_t f0 = 0; f0 < shape.F; f0 += most_columns) {
    const size_t columns = std::min(most_columns, shape.F - f0);
    for (size_t k0 = 0; k0 < shape.K; k0 += kBlockK) {
      const size_t K = std::min(kBlockK, shape.K - k0);
      PackTiles<TB>({b.at(f0, k0), b.row, b.column}, columns, K, width, packed_b);
      for (size_t n0 = 0; n0 < shape.N; n0 += most_rows) {
        const size_t rows = std::min(most_rows, shape.N - n0);
        PackTiles<TA>({a.at(n0, k0), a.row, a.column}, rows, K, kTileRows, packed_a);
        for (size_t f = 0; f < columns; f += width) {
          for (size_t n = 0; n < rows; n += kTileRows) {
            const C *from_a = packed_a + n * K, *from_b = packed_b + f * K;
            C* to = y + static_cast<ptrdiff_t>(n0 + n) * y_row + f0 + f;
            if (n + kTileRows <= rows && f + width <= columns) {
              if (k0 > 0) {
                MultiplyTile(K, from_a, from_b, AddSum<C>{to, y_row});
              } else {
                MultiplyTile(K, from_a, from_b, StoreSum<C>{to, y_row});
              }
            } else {
              MultiplyEdge(K, from_a, from_b, to, y_row, k0 > 0, std::min(kTileRows, rows - n),
                           std::min(width, columns - f));
            }
          }
        }
      }
    }
  }
}

// y[N,F] = a[N,K] b^T with b[F,K]; the rows of y are y_row elements apart. scratch has
// kProductScratch elements.
template <class TA, class TB, class C = Computed<TA>>
HWY_INLINE void Multiply(const ProductShape& shape, const Matrix<TA>& a, const Matrix<TB>& b, C* y,
                         ptrdiff_t y_row, C* scratch) {
  size_t done = 0;
  if constexpr (sizeof(C) == 4 && hn::MaxLanes(hn::ScalableTag<C>()) >= 4) {
    if (shape.N == 1 && shape.K > 0 && b.column == 1)
      done = MultiplyRow<1>(shape, a, b, MultiplyRow<2>(shape, a, b, 0, y), y);
  }
  if (done == shape.F) return;
  MultiplyPacked<TA, TB>({shape.N, shape.F - done, shape.K}, a, {b.at(done, 0), b.row, b.column},
                         y + done, y_row, scratch);
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#endif
