#include "fast/attention/softmax.h"

#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/attention/softmax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/element-inl.h"
#include "fast/simd/exp-inl.h"
#include "fast/simd/row_sum-inl.h"
#include "reference/attention/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T, class C = Computed<T>>
HWY_INLINE void Weigh(const C* terms, C factor, T* y, size_t n) {
  const hn::ScalableTag<C> d;
  WriteEach(d, n, y, [=](auto dk, size_t k) SEXTANT_INLINE {
    return hn::Mul(hn::LoadU(dk, terms + k), hn::Set(dk, factor));
  });
}

// Softmax in registers of a row with more than K - 1 and at most K vectors. The last vector ends at
// the end of the row and may overlap the vector before it: its overlapping lanes are not added to
// the sum, and the same values are written twice.
template <size_t K, class T, class C = Computed<T>>
HWY_INLINE void SoftmaxOf(const T* x, T* y, size_t n) {
  const hn::ScalableTag<C> d;
  using V = hn::VFromD<decltype(d)>;
  const size_t N = hn::Lanes(d), last = n - N, twice = K * N - n;
  V v[K], largest = Read(d, x + last);
  v[K - 1] = largest;
  for (size_t i = 0; i + 1 < K; ++i) {
    v[i] = Read(d, x + i * N);
    largest = hn::Max(largest, v[i]);
  }
  largest = hn::MaxOfLanes(d, largest);
  for (V& e : v) e = ExpOfNegative(d, hn::Sub(e, largest));
  const auto is_first = hn::Ge(hn::Iota(d, 0), hn::Set(d, static_cast<C>(twice)));
  V sum = hn::IfThenElseZero(is_first, v[K - 1]);
  for (size_t i = 0; i + 1 < K; ++i) sum = hn::Add(sum, v[i]);
  const V factor = hn::Div(hn::Set(d, 1), hn::SumOfLanes(d, sum));
  for (size_t i = 0; i + 1 < K; ++i) Write(d, hn::Mul(v[i], factor), y + i * N);
  Write(d, hn::Mul(v[K - 1], factor), y + last);
}

// Returns false if a row does not fit in kMost registers or does not fill one.
template <size_t kMost, size_t K = 1, class T>
HWY_INLINE bool SoftmaxInRegisters(const SoftmaxRows& rows, const T* x, T* y) {
  const size_t N = hn::Lanes(hn::ScalableTag<Computed<T>>());
  if (rows.M < N || rows.M > kMost * N) return false;
  if (rows.M > K * N) {
    if constexpr (K < kMost) return SoftmaxInRegisters<kMost, K + 1>(rows, x, y);
  }
  for (size_t n = 0; n < rows.N; ++n, x += rows.x_row, y += rows.y_row) {
    SoftmaxOf<K>(x, y, rows.M);
  }
  return true;
}

template <class T, class C = Computed<T>>
HWY_INLINE void SoftmaxAll(const SoftmaxRows& rows, const T* x, T* y, C* terms, bool stream) {
  constexpr size_t kRegisters = 8;  // of at least 16; the others are for constants
  if (!stream && SoftmaxInRegisters<kRegisters>(rows, x, y)) return;
  for (size_t n = 0; n < rows.N; ++n, x += rows.x_row, y += rows.y_row) {
    const C sum = Exponentials(x, LargestIn(x, rows.M), terms, rows.M);
    WriteRow(rows.M, stream, y, [&](size_t k, size_t count, T* to) SEXTANT_INLINE {
      Weigh(terms + k, 1 / sum, to, count);
      return x + rows.x_row + k;
    });
  }
}

void SoftmaxElements(DType dtype, const SoftmaxRows& rows, UntypedInput x, UntypedOutput y,
                     UntypedOutput terms, bool stream) {
  WithElement(dtype, [=, &rows]<class T>()
                         HWY_ATTR { SoftmaxAll<T, Computed<T>>(rows, x, y, terms, stream); });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(SoftmaxElements);

template <Element T>
void SoftmaxOfRows(const SoftmaxRows& rows, const T* x, T* y) {
  const bool stream = x != y && ShouldStream(2 * rows.N * rows.M * sizeof(T));
  InRowParts(rows.N, rows.M, [&](size_t first, size_t count) {
    const auto n = static_cast<ptrdiff_t>(first);
    SoftmaxRows part = rows;
    part.N = count;
    std::vector<Computed<T>> terms(rows.M);
    HWY_DYNAMIC_DISPATCH(SoftmaxElements)
    (kDType<T>, part, x + n * rows.x_row, y + n * rows.y_row, terms.data(), stream);
    if (stream) StreamFence();
  });
}

template void SoftmaxOfRows(const SoftmaxRows&, const double*, double*);
template void SoftmaxOfRows(const SoftmaxRows&, const float*, float*);
template void SoftmaxOfRows(const SoftmaxRows&, const F16*, F16*);
template void SoftmaxOfRows(const SoftmaxRows&, const BF16*, BF16*);

namespace {

StoredTensors RunSoftmax(const Case& c, const StoredTensors& inputs) {
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M");
  const auto row = static_cast<ptrdiff_t>(M);
  StoredTensors y = OutputsOf(c);
  WithElement(c.dtype(), [&]<class T>() {
    SoftmaxOfRows({N, M, row, row}, inputs[0].As<T>(), y[0].As<T>());
  });
  return y;
}

}  // namespace

template <>
CaseKernel MakeKernel<Softmax>() {
  return {DeclinesMixedTypes, RunSoftmax};
}

}  // namespace sextant::fast
#endif
