// Rotation of rows, for the instruction set being compiled.
#if defined(SEXTANT_FAST_ROPE_ROTATE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_FAST_ROPE_ROTATE_INL_H_
#undef SEXTANT_FAST_ROPE_ROTATE_INL_H_
#else
#define SEXTANT_FAST_ROPE_ROTATE_INL_H_
#endif

#include <cstring>

#include "fast/rope/rope_rotate.h"
#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// Rows of one head, and the corresponding rows of the table.
template <class T>
struct HeadRows {
  T* data;
  ptrdiff_t step;
};
template <class Table>
struct TableRows {
  const Table* cosine;
  const Table* sine;
  ptrdiff_t step;
  size_t count;
};

template <class P>
struct Pair {
  P first, second;
};

// y_i = x_i c - x_j s,  y_j = x_i s + x_j c
template <class V>
HWY_INLINE V RotatedFirst(V xi, V xj, V c, V s) {
  return hn::MulSub(xi, c, hn::Mul(xj, s));
}
template <class V>
HWY_INLINE V RotatedSecond(V xi, V xj, V c, V s) {
  return hn::MulAdd(xi, s, hn::Mul(xj, c));
}

// Rotates one vector of pairs (first[k], second[k]). Stores the first result before it computes the
// second; otherwise g++ 12 reads the four operands from memory twice.
template <class T, class Table, class D>
HWY_INLINE void RotateHalvesAt(D d, Pair<const T*> from, Pair<T*> to, Pair<const Table*> table,
                               size_t k) {
  const auto xi = Read(d, from.first + k), xj = Read(d, from.second + k);
  const auto c = Read(d, table.first + k), s = Read(d, table.second + k);
  Write(d, RotatedFirst(xi, xj, c, s), to.first + k);
  Write(d, RotatedSecond(xi, xj, c, s), to.second + k);
}

// Rotates two vectors of pairs, with even and with odd k: splitting adjacent bf16 is cheaper than
// widening them.
template <class T, class Table, class D>
HWY_INLINE void RotateSplitHalvesAt(D d, Pair<const T*> from, Pair<T*> to, Pair<const Table*> table,
                                    size_t k) {
  auto xi = hn::Zero(d), xj = xi, c = xi, s = xi, xi1 = xi, xj1 = xi, c1 = xi, s1 = xi;
  ReadPairs(d, from.first + k, xi, xi1);
  ReadPairs(d, from.second + k, xj, xj1);
  ReadPairs(d, table.first + k, c, c1);
  ReadPairs(d, table.second + k, s, s1);
  WritePairs(d, RotatedFirst(xi, xj, c, s), RotatedFirst(xi1, xj1, c1, s1), to.first + k);
  WritePairs(d, RotatedSecond(xi, xj, c, s), RotatedSecond(xi1, xj1, c1, s1), to.second + k);
}

// Rotates two adjacent vectors of pairs; one instruction rounds both results.
template <class T, class Table, class D>
HWY_INLINE void RotateTwoHalvesAt(D d, Pair<const T*> from, Pair<T*> to, Pair<const Table*> table,
                                  size_t k) {
  auto xi = hn::Zero(d), xj = xi, c = xi, s = xi, xi1 = xi, xj1 = xi, c1 = xi, s1 = xi;
  ReadTwo(d, from.first + k, xi, xi1);
  ReadTwo(d, from.second + k, xj, xj1);
  ReadTwo(d, table.first + k, c, c1);
  ReadTwo(d, table.second + k, s, s1);
  const auto yi = RotatedFirst(xi, xj, c, s), yi1 = RotatedFirst(xi1, xj1, c1, s1);
  const auto yj = RotatedSecond(xi, xj, c, s), yj1 = RotatedSecond(xi1, xj1, c1, s1);
  const auto first = RoundByInstruction(yi, yi1), second = RoundByInstruction(yj, yj1);
  if (HWY_UNLIKELY(LostSubnormals(first, second, yi, yi1, yj, yj1))) {
    Write(d, yi, to.first + k);
    Write(d, yi1, to.first + k + hn::Lanes(d));
    Write(d, yj, to.second + k);
    Write(d, yj1, to.second + k + hn::Lanes(d));
  } else {
    WriteRounded(first, to.first + k);
    WriteRounded(second, to.second + k);
  }
}

// Rotates n pairs (first[k], second[k]); in the opposite direction if first and second are
// exchanged.
template <class T, class Table, Rounding rounding>
HWY_INLINE void RotateHalves(Pair<const T*> from, Pair<T*> to, Pair<const Table*> table, size_t n) {
  const hn::ScalableTag<Computed<T>> d;
  size_t k = 0;
  if constexpr (std::same_as<T, BF16>) {
    const size_t step = 2 * hn::Lanes(d);
    for (; k + step <= n; k += step) {
      if constexpr (rounding == Rounding::kInstruction) {
        RotateTwoHalvesAt<T, Table>(d, from, to, table, k);
      } else {
        RotateSplitHalvesAt<T, Table>(d, from, to, table, k);
      }
    }
  }
  const auto body = [=](auto dk, size_t i)
                        SEXTANT_INLINE { RotateHalvesAt<T, Table>(dk, from, to, table, i); };
  if (k < n) ForEachVector(d, n, body, k);
}

// Rotates n pairs (from[2k], from[2k+1]). The opposite direction is the same rotation with the
// members of each pair exchanged.
template <class T, class Table, Rounding rounding, bool forward>
HWY_INLINE void RotateAdjacent(const T* from, T* to, Pair<const Table*> table, size_t n) {
  const hn::ScalableTag<Computed<T>> d;
  const auto body = [=](auto dk, size_t k) SEXTANT_INLINE {
    auto a = hn::Zero(dk), b = a;
    ReadPairs(dk, from + 2 * k, a, b);
    const auto c = Read(dk, table.first + k), s = Read(dk, table.second + k);
    const auto xi = forward ? a : b, xj = forward ? b : a;
    const auto yi = RotatedFirst(xi, xj, c, s), yj = RotatedSecond(xi, xj, c, s);
    WritePairs<rounding>(dk, forward ? yi : yj, forward ? yj : yi, to + 2 * k);
  };
  ForEachVector(d, n, body);
}

// Calls rotate(from, to, table row) for every row; from and to point to the first rotated channel.
template <class T, class Table, class RotateRow>
HWY_INLINE void ForEachRow(size_t offset, HeadRows<const T> x, HeadRows<T> y,
                           const TableRows<Table>& t, const RotateRow& rotate) {
  const T* from = x.data + offset;
  T* to = y.data + offset;
  Pair<const Table*> row{t.cosine, t.sine};
  for (size_t s = 0; s < t.count; ++s) {
    rotate(from, to, row);
    from += x.step;
    to += y.step;
    row.first += t.step;
    row.second += t.step;
  }
}

template <class T>
void CopyOthers(const Rotation& r, HeadRows<const T> x, HeadRows<T> y, size_t count) {
  const size_t end = r.offset + r.R;
  for (size_t s = 0; s < count; ++s, x.data += x.step, y.data += y.step) {
    std::memcpy(y.data, x.data, r.offset * sizeof(T));
    std::memcpy(y.data + end, x.data + end, (r.D - end) * sizeof(T));
  }
}

// Rotates the rows of one head for one block of the table, and copies the other channels.
template <class T, class Table, Rounding rounding>
HWY_NOINLINE void RotateRows(const Rotation& r, HeadRows<const T> x, HeadRows<T> y,
                             const TableRows<Table>& t) {
  const size_t n = r.R / 2;
  const bool forward = r.direction == Direction::kForward;
  if (r.pairing == Pairing::kHalf) {
    const size_t first = forward ? 0 : n, second = n - first;
    ForEachRow(r.offset, x, y, t, [=](const T* from, T* to, Pair<const Table*> row) SEXTANT_INLINE {
      RotateHalves<T, Table, rounding>({from + first, from + second}, {to + first, to + second},
                                       row, n);
    });
  } else if (forward) {
    ForEachRow(r.offset, x, y, t, [=](const T* from, T* to, Pair<const Table*> row) SEXTANT_INLINE {
      RotateAdjacent<T, Table, rounding, true>(from, to, row, n);
    });
  } else {
    ForEachRow(r.offset, x, y, t, [=](const T* from, T* to, Pair<const Table*> row) SEXTANT_INLINE {
      RotateAdjacent<T, Table, rounding, false>(from, to, row, n);
    });
  }
  if (x.data != y.data && r.R < r.D) CopyOthers(r, x, y, t.count);
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#endif
