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

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// y_i = x_i c - x_j s,  y_j = x_i s + x_j c
template <class V>
struct Pair {
  V first, second;
};
template <class V>
HWY_INLINE Pair<V> Turn(V xi, V xj, V c, V s) {
  return {hn::MulSub(xi, c, hn::Mul(xj, s)), hn::MulAdd(xi, s, hn::Mul(xj, c))};
}

// n pairs (first[k], second[k]); `to` likewise. With first and second exchanged it turns backwards.
template <class T, class Table>
HWY_INLINE void TurnHalves(Pair<const T*> from, Pair<T*> to, Pair<const Table*> table, size_t n) {
  const hn::ScalableTag<Computed<T>> d;
  ForEachVector(d, n, [&](auto dk, size_t k) HWY_ATTR {
    const auto turned = Turn(Read(dk, from.first + k), Read(dk, from.second + k),
                             Read(dk, table.first + k), Read(dk, table.second + k));
    Write(dk, turned.first, to.first + k);
    Write(dk, turned.second, to.second + k);
  });
}

// n pairs (from[2k], from[2k+1]); sign = -1 turns backwards.
template <class T, class Table>
HWY_INLINE void TurnNeighbours(const T* from, T* to, Pair<const Table*> table, size_t n,
                               Computed<T> sign) {
  const hn::ScalableTag<Computed<T>> d;
  ForEachVector(d, n, [&](auto dk, size_t k) HWY_ATTR {
    auto xi = hn::Zero(dk), xj = hn::Zero(dk);
    ReadPairs(dk, from + 2 * k, xi, xj);
    const auto s = hn::Mul(Read(dk, table.second + k), hn::Set(dk, sign));
    const auto turned = Turn(xi, xj, Read(dk, table.first + k), s);
    WritePairs(dk, turned.first, turned.second, to + 2 * k);
  });
}

template <class T, class Table>
HWY_INLINE void TurnRow(const Rotation& r, const T* x, T* y, Pair<const Table*> table) {
  const size_t end = r.offset + r.R, half = r.R / 2;
  const bool forward = r.direction == Direction::kForward;
  const T* from = x + r.offset;
  T* to = y + r.offset;
  if (r.pairing == Pairing::kInterleaved) {
    TurnNeighbours(from, to, table, half, static_cast<Computed<T>>(forward ? 1 : -1));
  } else if (forward) {
    TurnHalves<T, Table>({from, from + half}, {to, to + half}, table, half);
  } else {
    TurnHalves<T, Table>({from + half, from}, {to + half, to}, table, half);
  }
  if (x == y || r.R == r.D) return;
  std::memcpy(y, x, r.offset * sizeof(T));
  std::memcpy(y + end, x + end, (r.D - end) * sizeof(T));
}

// The rows of one head that share a block of the table, n of them.
template <class T, class Table>
void TurnRows(const Rotation& r, Heads<const T> x, RotaryTable<Table> table, Heads<T> y) {
  for (size_t s = 0; s < r.S; ++s) {
    const auto row = static_cast<ptrdiff_t>(s);
    TurnRow<T, Table>(r, x.data + row * x.row, y.data + row * y.row,
                      {table.cosine + row * table.row, table.sine + row * table.row});
  }
}

void RotateF64(const Rotation& r, Heads<const double> x, RotaryTable<double> t, Heads<double> y) {
  TurnRows(r, x, t, y);
}
void RotateF32(const Rotation& r, Heads<const float> x, RotaryTable<float> t, Heads<float> y) {
  TurnRows(r, x, t, y);
}
void RotateF16(const Rotation& r, Heads<const F16> x, RotaryTable<F16> t, Heads<F16> y) {
  TurnRows(r, x, t, y);
}
void RotateF16ByF32(const Rotation& r, Heads<const F16> x, RotaryTable<float> t, Heads<F16> y) {
  TurnRows(r, x, t, y);
}
void RotateBF16(const Rotation& r, Heads<const BF16> x, RotaryTable<BF16> t, Heads<BF16> y) {
  TurnRows(r, x, t, y);
}
void RotateBF16ByF32(const Rotation& r, Heads<const BF16> x, RotaryTable<float> t, Heads<BF16> y) {
  TurnRows(r, x, t, y);
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

namespace {

// A table block of this many bytes stays in the first-level cache while all heads use it.
constexpr size_t kTableBlock = 16384;

template <class T, class Table>
void Kernel(const Rotation& r, Heads<const T> x, RotaryTable<Table> t, Heads<T> y) {
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

// Rows of one head, computed in a small buffer whose copy is streamed.
template <class T, class Table>
void RotateStreaming(Rotation r, Heads<const T> x, RotaryTable<Table> table, Heads<T> y) {
  alignas(64) T buffer[kStreamBuffer / sizeof(T)];
  const size_t rows = kStreamBuffer / sizeof(T) / r.D, S = r.S;
  for (size_t s = 0; s < S; s += rows) {
    r.S = std::min(rows, S - s);
    const auto at = static_cast<ptrdiff_t>(s);
    Kernel<T, Table>(r, {x.data + at * x.row, 0, 0, x.row},
                     {table.cosine + at * table.row, table.sine + at * table.row, 0, table.row},
                     {buffer, 0, 0, static_cast<ptrdiff_t>(r.D)});
    T* to = y.data + at * y.row;
    if (y.row == static_cast<ptrdiff_t>(r.D)) {
      StreamCopy(buffer, to, r.S * r.D * sizeof(T));
    } else {
      for (size_t i = 0; i < r.S; ++i) {
        StreamCopy(buffer + i * r.D, to + static_cast<ptrdiff_t>(i) * y.row, r.D * sizeof(T));
      }
    }
  }
}

}  // namespace

template <Element T, Element Table>
void Rotate(const Rotation& r, Heads<const T> x, RotaryTable<Table> table, Heads<T> y) noexcept {
  const size_t bytes = 2 * r.B * r.H * r.S * r.D * sizeof(T);
  const bool stream = x.data != y.data && r.D <= kStreamBuffer / sizeof(T) && ShouldStream(bytes);
  const size_t rows = std::max<size_t>(1, kTableBlock / (std::max<size_t>(1, r.R) * sizeof(Table)));
  for (size_t b = 0; b < r.B; ++b) {
    for (size_t s = 0; s < r.S; s += rows) {
      Rotation block = r;
      block.S = std::min(rows, r.S - s);
      const auto batch = static_cast<ptrdiff_t>(b), at = static_cast<ptrdiff_t>(s);
      const ptrdiff_t in_table = batch * table.batch + at * table.row;
      const RotaryTable<Table> part{table.cosine + in_table, table.sine + in_table, 0, table.row};
      for (size_t h = 0; h < r.H; ++h) {
        const auto head = static_cast<ptrdiff_t>(h);
        const Heads<const T> from{x.data + batch * x.batch + head * x.head + at * x.row, 0, 0,
                                  x.row};
        const Heads<T> to{y.data + batch * y.batch + head * y.head + at * y.row, 0, 0, y.row};
        if (stream)
          RotateStreaming<T, Table>(block, from, part, to);
        else
          Kernel<T, Table>(block, from, part, to);
      }
    }
  }
  if (stream) StreamFence();
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

// The tables of a 16-bit case may be kept in f32.
std::string Declines(const Case& c) {
  const auto& inputs = c.info().signature.inputs;
  const DType cosine = c.DTypeOf(inputs[1]);
  const bool narrow = c.dtype() == DType::kF16 || c.dtype() == DType::kBF16;
  if (c.DTypeOf(inputs[0]) != c.dtype() || c.DTypeOf(c.info().signature.outputs[0]) != c.dtype()) {
    return "no kernel for x or y of another dtype than the case's";
  }
  if (c.DTypeOf(inputs[2]) != cosine) return "no kernel for cos and sin of two dtypes";
  if (cosine == c.dtype() || (narrow && cosine == DType::kF32)) return "";
  return "no kernel for such a table";
}

template <Element T, Element Table>
Tensors RunAs(const Rotation& r, const Tensors& inputs) {
  const std::vector<T> x = ToElements<T>(inputs[0].values);
  const auto cosine = ToElements<Table>(inputs[1].values), sine = ToElements<Table>(inputs[2].values);
  std::vector<T> y(x.size());
  const Heads<const T> from = Dense(r, x.data());
  Rotate<T, Table>(r, from, DenseTable(r, cosine.data(), sine.data()), Dense(r, y.data()));
  return {ToTensor("y", inputs[0].values.shape, y)};
}

Tensors Run(const Case& c, const Tensors& inputs) {
  const RopeRotate op = StructOf<RopeRotate>(c);
  const Rotation r{.B = ExtentOf(c, "B"), .H = ExtentOf(c, "H"), .S = ExtentOf(c, "S"),
                   .D = ExtentOf(c, "D"), .R = ExtentOf(c, "R"),
                   .offset = static_cast<size_t>(op.offset),
                   .pairing = op.pairing, .direction = op.direction};
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    if constexpr (Narrow<T>) {
      if (inputs[1].dtype == DType::kF32) return RunAs<T, float>(r, inputs);
    }
    return RunAs<T, T>(r, inputs);
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeRotate>() {
  return {Declines, Run};
}

}  // namespace sextant::fast
#endif
