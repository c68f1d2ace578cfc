#include "fast/rope_rotate.h"

#include "fast/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/rope_rotate.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fast/element-inl.h"
#include "fast/kernel.h"
#include "fast/typed.h"
#include "reference/rope_rotate.h"

// Once, not per instruction set.
#ifndef SEXTANT_FAST_ROPE_ROTATE_ROWS_
#define SEXTANT_FAST_ROPE_ROTATE_ROWS_
namespace sextant::fast {
namespace {

// Rows of one head, and the rows of the table that belong to them.
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

// Bytes of table that stay in the first-level cache beside the rows that pass; with rows that come
// from memory the second level will do, and longer runs of one head suit the prefetcher.
constexpr size_t kTableBlock = 4096, kLargeTableBlock = 65536;

}  // namespace
}  // namespace sextant::fast
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class P>
struct Pair {
  P first, second;
};

// y_i = x_i c - x_j s,  y_j = x_i s + x_j c
template <class V>
HWY_INLINE V TurnFirst(V xi, V xj, V c, V s) {
  return hn::MulSub(xi, c, hn::Mul(xj, s));
}
template <class V>
HWY_INLINE V TurnSecond(V xi, V xj, V c, V s) {
  return hn::MulAdd(xi, s, hn::Mul(xj, c));
}

// One vector of pairs (first[k], second[k]). The first is stored before the second is computed:
// else g++ 12 reads its four operands from memory a second time.
template <class T, class Table, class D>
HWY_INLINE void TurnHalvesAt(D d, Pair<const T*> from, Pair<T*> to, Pair<const Table*> table,
                             size_t k) {
  const auto xi = Read(d, from.first + k), xj = Read(d, from.second + k);
  const auto c = Read(d, table.first + k), s = Read(d, table.second + k);
  Write(d, TurnFirst(xi, xj, c, s), to.first + k);
  Write(d, TurnSecond(xi, xj, c, s), to.second + k);
}

// Two vectors of pairs, of even and odd k: neighbouring bf16 are cheaper to split than to widen.
template <class T, class Table, class D>
HWY_INLINE void TurnTwoHalvesAt(D d, Pair<const T*> from, Pair<T*> to, Pair<const Table*> table,
                                size_t k) {
  auto xi = hn::Zero(d), xj = xi, c = xi, s = xi, xi1 = xi, xj1 = xi, c1 = xi, s1 = xi;
  ReadPairs(d, from.first + k, xi, xi1);
  ReadPairs(d, from.second + k, xj, xj1);
  ReadPairs(d, table.first + k, c, c1);
  ReadPairs(d, table.second + k, s, s1);
  WritePairs(d, TurnFirst(xi, xj, c, s), TurnFirst(xi1, xj1, c1, s1), to.first + k);
  WritePairs(d, TurnSecond(xi, xj, c, s), TurnSecond(xi1, xj1, c1, s1), to.second + k);
}

// n pairs (first[k], second[k]); `to` likewise. With first and second exchanged it turns backwards.
template <class T, class Table>
HWY_INLINE void TurnHalves(Pair<const T*> from, Pair<T*> to, Pair<const Table*> table, size_t n) {
  const hn::ScalableTag<Computed<T>> d;
  size_t k = 0;
  if constexpr (std::same_as<T, BF16>) {
    const size_t step = 2 * hn::Lanes(d);
    for (; k + step <= n; k += step) TurnTwoHalvesAt<T, Table>(d, from, to, table, k);
  }
  const auto body = [=](auto dk, size_t i) HWY_ATTR __attribute__((always_inline)) {
    TurnHalvesAt<T, Table>(dk, from, to, table, i);
  };
  ForEachVector(d, n, body, k);
}

// n pairs (from[2k], from[2k+1]); sign = -1 turns backwards.
template <class T, class Table>
HWY_INLINE void TurnNeighbours(const T* from, T* to, Pair<const Table*> table, size_t n,
                               Computed<T> sign) {
  const hn::ScalableTag<Computed<T>> d;
  const auto body = [=](auto dk, size_t k) HWY_ATTR __attribute__((always_inline)) {
    auto xi = hn::Zero(dk), xj = xi;
    ReadPairs(dk, from + 2 * k, xi, xj);
    const auto c = Read(dk, table.first + k);
    const auto s = hn::Mul(Read(dk, table.second + k), hn::Set(dk, sign));
    WritePairs(dk, TurnFirst(xi, xj, c, s), TurnSecond(xi, xj, c, s), to + 2 * k);
  };
  ForEachVector(d, n, body);
}

// Calls turn(from, to, table row) with the first rotated channels of every row.
template <class T, class Table, class TurnRow>
HWY_INLINE void ForEachRow(size_t offset, HeadRows<const T> x, HeadRows<T> y,
                           const TableRows<Table>& t, const TurnRow& turn) {
  const T* from = x.data + offset;
  T* to = y.data + offset;
  Pair<const Table*> row{t.cosine, t.sine};
  for (size_t s = 0; s < t.count; ++s) {
    turn(from, to, row);
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

// Rows of one head that belong to a block of the table.
template <class T, class Table>
HWY_INLINE void TurnRows(const Rotation& r, HeadRows<const T> x, HeadRows<T> y,
                         const TableRows<Table>& t) {
  const size_t n = r.R / 2;
  const bool forward = r.direction == Direction::kForward;
  if (r.pairing == Pairing::kInterleaved) {
    const Computed<T> sign = forward ? 1 : -1;
    ForEachRow(
        r.offset, x, y, t,
        [=](const T* from, T* to, Pair<const Table*> row) HWY_ATTR
        __attribute__((always_inline)) { TurnNeighbours(from, to, row, n, sign); });
  } else {
    const size_t first = forward ? 0 : n, second = n - first;
    ForEachRow(
        r.offset, x, y, t,
        [=](const T* from, T* to, Pair<const Table*> row) HWY_ATTR __attribute__((always_inline)) {
          TurnHalves<T, Table>({from + first, from + second}, {to + first, to + second}, row, n);
        });
  }
  if (x.data != y.data && r.R < r.D) CopyOthers(r, x, y, t.count);
}

template <class T, class Table>
HWY_NOINLINE void StreamRows(const Rotation& r, HeadRows<const T> x, HeadRows<T> y,
                             TableRows<Table> t) {
  HWY_ALIGN T buffer[kStreamBuffer / sizeof(T)];
  const size_t most = kStreamBuffer / sizeof(T) / r.D;
  const auto width = static_cast<ptrdiff_t>(r.D);
  for (size_t left = t.count; left > 0; left -= t.count) {
    t.count = std::min(most, left);
    const auto n = static_cast<ptrdiff_t>(t.count);
    TurnRows<T, Table>(r, x, {buffer, width}, t);
    if (y.step == width) {
      StreamCopy(buffer, y.data, t.count * r.D * sizeof(T));
    } else {
      for (ptrdiff_t i = 0; i < n; ++i)
        StreamCopy(buffer + i * width, y.data + i * y.step, r.D * sizeof(T));
    }
    x.data += n * x.step;
    y.data += n * y.step;
    t.cosine += n * t.step;
    t.sine += n * t.step;
  }
}

// All heads use a block of the table before the next block is touched.
template <class T, class Table>
HWY_INLINE void RotateAll(const Rotation& r, const Heads<const T>& x, const RotaryTable<Table>& t,
                          const Heads<T>& y) {
  const size_t bytes = 2 * r.B * r.H * r.S * r.D * sizeof(T);
  const bool large = ShouldStream(bytes);
  const bool stream = large && x.data != y.data && r.D <= kStreamBuffer / sizeof(T);
  const size_t rows = std::max<size_t>(
      1, (large ? kLargeTableBlock : kTableBlock) / (std::max<size_t>(1, r.R) * sizeof(Table)));
  for (size_t b = 0; b < r.B; ++b) {
    for (size_t s = 0; s < r.S; s += rows) {
      const auto batch = static_cast<ptrdiff_t>(b), at = static_cast<ptrdiff_t>(s);
      const ptrdiff_t in_table = batch * t.batch + at * t.row;
      const TableRows<Table> part{t.cosine + in_table, t.sine + in_table, t.row,
                                  std::min(rows, r.S - s)};
      for (size_t h = 0; h < r.H; ++h) {
        const auto head = static_cast<ptrdiff_t>(h);
        const HeadRows<const T> from{x.data + batch * x.batch + head * x.head + at * x.row, x.row};
        const HeadRows<T> to{y.data + batch * y.batch + head * y.head + at * y.row, y.row};
        if (stream)
          StreamRows<T, Table>(r, from, to, part);
        else
          TurnRows<T, Table>(r, from, to, part);
      }
    }
  }
  if (stream) StreamFence();
}

void RotateF64(const Rotation& r, Heads<const double> x, RotaryTable<double> t, Heads<double> y) {
  RotateAll(r, x, t, y);
}
void RotateF32(const Rotation& r, Heads<const float> x, RotaryTable<float> t, Heads<float> y) {
  RotateAll(r, x, t, y);
}
void RotateF16(const Rotation& r, Heads<const F16> x, RotaryTable<F16> t, Heads<F16> y) {
  RotateAll(r, x, t, y);
}
void RotateF16ByF32(const Rotation& r, Heads<const F16> x, RotaryTable<float> t, Heads<F16> y) {
  RotateAll(r, x, t, y);
}
void RotateBF16(const Rotation& r, Heads<const BF16> x, RotaryTable<BF16> t, Heads<BF16> y) {
  RotateAll(r, x, t, y);
}
void RotateBF16ByF32(const Rotation& r, Heads<const BF16> x, RotaryTable<float> t, Heads<BF16> y) {
  RotateAll(r, x, t, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(RotateF64);
HWY_EXPORT(RotateF32);
HWY_EXPORT(RotateF16);
HWY_EXPORT(RotateF16ByF32);
HWY_EXPORT(RotateBF16);
HWY_EXPORT(RotateBF16ByF32);

template <Element T, Element Table>
void Rotate(const Rotation& r, Heads<const T> x, RotaryTable<Table> t, Heads<T> y) noexcept {
  if constexpr (std::same_as<T, double>) {
    HWY_DYNAMIC_DISPATCH(RotateF64)(r, x, t, y);
  } else if constexpr (std::same_as<T, float>) {
    HWY_DYNAMIC_DISPATCH(RotateF32)(r, x, t, y);
  } else if constexpr (std::same_as<T, F16> && std::same_as<Table, F16>) {
    HWY_DYNAMIC_DISPATCH(RotateF16)(r, x, t, y);
  } else if constexpr (std::same_as<T, F16>) {
    HWY_DYNAMIC_DISPATCH(RotateF16ByF32)(r, x, t, y);
  } else if constexpr (std::same_as<Table, BF16>) {
    HWY_DYNAMIC_DISPATCH(RotateBF16)(r, x, t, y);
  } else {
    HWY_DYNAMIC_DISPATCH(RotateBF16ByF32)(r, x, t, y);
  }
}

template void Rotate(const Rotation&, Heads<const double>, RotaryTable<double>,
                     Heads<double>) noexcept;
template void Rotate(const Rotation&, Heads<const float>, RotaryTable<float>,
                     Heads<float>) noexcept;
template void Rotate(const Rotation&, Heads<const F16>, RotaryTable<F16>, Heads<F16>) noexcept;
template void Rotate(const Rotation&, Heads<const F16>, RotaryTable<float>, Heads<F16>) noexcept;
template void Rotate(const Rotation&, Heads<const BF16>, RotaryTable<BF16>, Heads<BF16>) noexcept;
template void Rotate(const Rotation&, Heads<const BF16>, RotaryTable<float>, Heads<BF16>) noexcept;

namespace {

// Tables of another dtype than x are widened to the type in which the kernel computes, if they fit.
std::string Declines(const Case& c) {
  const auto& inputs = c.info().signature.inputs;
  const DType cosine = c.DTypeOf(inputs[1]);
  const DType computed = c.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  if (c.DTypeOf(inputs[0]) != c.dtype() || c.DTypeOf(c.info().signature.outputs[0]) != c.dtype()) {
    return "no kernel for x or y of another dtype than the case's";
  }
  if (c.DTypeOf(inputs[2]) != cosine) return "no kernel for cos and sin of two dtypes";
  if (Contains(computed, cosine)) return "";
  return "no kernel for such a table";
}

template <Element T, Element Table>
Tensors RunAs(const Rotation& r, const Tensors& inputs) {
  const std::vector<T> x = ToElements<T>(inputs[0].values);
  const auto cosine = ToElements<Table>(inputs[1].values),
             sine = ToElements<Table>(inputs[2].values);
  std::vector<T> y(x.size());
  const Heads<const T> from = Dense(r, x.data());
  Rotate<T, Table>(r, from, DenseTable(r, cosine.data(), sine.data()), Dense(r, y.data()));
  return {ToTensor("y", inputs[0].values.shape, y)};
}

Tensors Run(const Case& c, const Tensors& inputs) {
  const RopeRotate op = StructOf<RopeRotate>(c);
  const Rotation r{.B = ExtentOf(c, "B"),
                   .H = ExtentOf(c, "H"),
                   .S = ExtentOf(c, "S"),
                   .D = ExtentOf(c, "D"),
                   .R = ExtentOf(c, "R"),
                   .offset = static_cast<size_t>(op.offset),
                   .pairing = op.pairing,
                   .direction = op.direction};
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    if (inputs[1].dtype == kDType<T>) return RunAs<T, T>(r, inputs);
    return RunAs<T, Computed<T>>(r, inputs);
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeRotate>() {
  return {Declines, Run};
}

}  // namespace sextant::fast
#endif
