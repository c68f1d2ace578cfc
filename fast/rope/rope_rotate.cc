#include "fast/rope/rope_rotate.h"

#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/rope/rope_rotate.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/rope/rope_rotate-inl.h"
#include "fast/simd/processor.h"
#include "reference/rope/rope_rotate.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// Bytes of a table block. The small block stays in the first-level cache while rows pass through
// it. For large x, rows come from memory: a block in the second-level cache is sufficient, and
// longer runs of rows of one head suit the prefetcher.
constexpr size_t kTableBlock = 16384, kLargeTableBlock = 65536;

// Rotates into a small buffer, which is then copied by streaming stores.
template <class T, class Table, Rounding rounding>
HWY_NOINLINE void StreamRows(const Rotation& r, HeadRows<const T> x, HeadRows<T> y,
                             TableRows<Table> t) {
  HWY_ALIGN T buffer[kStreamBuffer / sizeof(T)];
  const size_t most = kStreamBuffer / sizeof(T) / r.D;
  const auto width = static_cast<ptrdiff_t>(r.D);
  for (size_t left = t.count; left > 0; left -= t.count) {
    t.count = std::min(most, left);
    const auto n = static_cast<ptrdiff_t>(t.count);
    RotateRows<T, Table, rounding>(r, x, {buffer, width}, t);
    if (y.step == width) {
      StreamCopy(buffer, y.data, t.count * r.D * sizeof(T), x.data + n * x.step);
    } else {
      for (ptrdiff_t i = 0; i < n; ++i)
        StreamCopy(buffer + i * width, y.data + i * y.step, r.D * sizeof(T),
                   x.data + (n + i) * x.step);
    }
    x.data += n * x.step;
    y.data += n * y.step;
    t.cosine += n * t.step;
    t.sine += n * t.step;
  }
}

// Applies each block of the table to all heads before it reads the next block.
template <class T, class Table, Rounding rounding>
HWY_INLINE void RotateBlocks(const Rotation& r, const Heads<const T>& x,
                             const RotaryTable<Table>& t, const Heads<T>& y, bool large) {
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
          StreamRows<T, Table, rounding>(r, from, to, part);
        else
          RotateRows<T, Table, rounding>(r, from, to, part);
      }
    }
  }
  if (stream) StreamFence();
}

template <class T, class Table>
HWY_INLINE void RotateAll(const Rotation& r, const Heads<const T>& x, const RotaryTable<Table>& t,
                          const Heads<T>& y, bool large) {
  if constexpr (kMayHaveBF16Instruction && std::same_as<T, BF16>) {
    if (HasBF16Instruction())
      return RotateBlocks<T, Table, Rounding::kInstruction>(r, x, t, y, large);
  }
  RotateBlocks<T, Table, Rounding::kPortable>(r, x, t, y, large);
}

// table_dtype is dtype, or f32 for 16-bit dtypes.
void RotateElements(DType dtype, DType table_dtype, const Rotation& r, const void* x,
                    const void* table, const void* y, bool large) {
  WithElement(dtype, [=, &r]<class T>() HWY_ATTR {
    const auto rotate = [=, &r]<class Table>() HWY_ATTR {
      RotateAll(r, *static_cast<const Heads<const T>*>(x),
                *static_cast<const RotaryTable<Table>*>(table), *static_cast<const Heads<T>*>(y),
                large);
    };
    if (table_dtype == kDType<T>) return rotate.template operator()<T>();
    if constexpr (Narrow<T>) rotate.template operator()<Computed<T>>();
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(RotateElements);

template <Element T, Element Table>
void Rotate(const Rotation& r, Heads<const T> x, RotaryTable<Table> t, Heads<T> y) {
  const bool large = ShouldStream(2 * r.B * r.H * r.S * r.D * sizeof(T));
  InRowParts(r.S, r.B * r.H * r.D, [&](size_t first, size_t count) {
    const auto at = static_cast<ptrdiff_t>(first);
    Rotation part = r;
    part.S = count;
    Heads<const T> from = x;
    Heads<T> to = y;
    RotaryTable<Table> of_part = t;
    from.data += at * x.row;
    to.data += at * y.row;
    of_part.cosine += at * t.row;
    of_part.sine += at * t.row;
    HWY_DYNAMIC_DISPATCH(RotateElements)
    (kDType<T>, kDType<Table>, part, &from, &of_part, &to, large);
  });
}

template void Rotate(const Rotation&, Heads<const double>, RotaryTable<double>, Heads<double>);
template void Rotate(const Rotation&, Heads<const float>, RotaryTable<float>, Heads<float>);
template void Rotate(const Rotation&, Heads<const F16>, RotaryTable<F16>, Heads<F16>);
template void Rotate(const Rotation&, Heads<const F16>, RotaryTable<float>, Heads<F16>);
template void Rotate(const Rotation&, Heads<const BF16>, RotaryTable<BF16>, Heads<BF16>);
template void Rotate(const Rotation&, Heads<const BF16>, RotaryTable<float>, Heads<BF16>);

namespace {

// Tables of another dtype than x are widened to Computed<T>, if it contains their dtype.
std::string Declines(const Case& c) {
  const auto& inputs = c.signature().inputs;
  const DType cosine = c.DTypeOf(inputs[1]);
  const DType computed = c.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  if (c.DTypeOf(inputs[0]) != c.dtype() || c.DTypeOf(c.info().signature.outputs[0]) != c.dtype()) {
    return "no kernel for x or y of another dtype than the case's";
  }
  if (c.DTypeOf(inputs[2]) != cosine) return "no kernel for cos and sin of two dtypes";
  if (Contains(computed, cosine)) return "";
  return "no kernel for such a table";
}

StoredTensors RunRopeRotate(const Case& c, const StoredTensors& inputs) {
  const RopeRotate op = StructOf<RopeRotate>(c);
  const Rotation r{.B = ExtentOf(c, "B"),
                   .H = ExtentOf(c, "H"),
                   .S = ExtentOf(c, "S"),
                   .D = ExtentOf(c, "D"),
                   .R = ExtentOf(c, "R"),
                   .offset = static_cast<size_t>(op.offset),
                   .pairing = op.pairing,
                   .direction = op.direction};
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    const auto rotate = [&]<class Table>() {
      const Elements<Table> cosine(inputs[1]), sine(inputs[2]);
      const Heads<const T> from = Dense(r, inputs[0].As<T>());
      Rotate<T, Table>(r, from, DenseTable(r, cosine.data(), sine.data()), Dense(r, y[0].As<T>()));
    };
    if (inputs[1].dtype() == kDType<T>) return rotate.template operator()<T>();
    rotate.template operator()<Computed<T>>();
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeRotate>() {
  return {Declines, RunRopeRotate};
}

}  // namespace sextant::fast
#endif
