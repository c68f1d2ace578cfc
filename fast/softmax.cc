#include "fast/softmax.h"

#include "fast/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/softmax.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>

#include "fast/element-inl.h"
#include "fast/exp-inl.h"
#include "fast/kernel.h"
#include "fast/typed.h"
#include "reference/softmax.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <class T, class C = Computed<T>>
HWY_INLINE C LargestIn(const T* x, size_t n) {
  const hn::ScalableTag<C> d;
  const size_t N = hn::Lanes(d);
  auto m0 = hn::Set(d, -std::numeric_limits<C>::infinity()), m1 = m0, m2 = m0, m3 = m0;
  size_t k = 0;
  for (; k + 4 * N <= n; k += 4 * N) {
    m0 = hn::Max(m0, Read(d, x + k));
    m1 = hn::Max(m1, Read(d, x + k + N));
    m2 = hn::Max(m2, Read(d, x + k + 2 * N));
    m3 = hn::Max(m3, Read(d, x + k + 3 * N));
  }
  for (; k + N <= n; k += N) m0 = hn::Max(m0, Read(d, x + k));
  C largest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(hn::Max(m0, m1), hn::Max(m2, m3))));
  const hn::CappedTag<C, 1> one;
  for (; k < n; ++k) largest = std::max(largest, hn::GetLane(Read(one, x + k)));
  return largest;
}

// terms_k = e^(x_k - largest); returns their sum.
template <class T, class C = Computed<T>>
HWY_INLINE C Exponentials(const T* x, C largest, C* terms, size_t n) {
  const hn::ScalableTag<C> d;
  const size_t N = hn::Lanes(d);
  const auto term = [=](auto dk, size_t k) HWY_ATTR {
    const auto e = ExpOfNegative(dk, hn::Sub(Read(dk, x + k), hn::Set(dk, largest)));
    hn::StoreU(e, dk, terms + k);
    return e;
  };
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  size_t k = 0;
  for (; k + 4 * N <= n; k += 4 * N) {
    s0 = hn::Add(s0, term(d, k));
    s1 = hn::Add(s1, term(d, k + N));
    s2 = hn::Add(s2, term(d, k + 2 * N));
    s3 = hn::Add(s3, term(d, k + 3 * N));
  }
  for (; k + N <= n; k += N) s0 = hn::Add(s0, term(d, k));
  C sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
  const hn::CappedTag<C, 1> one;
  for (; k < n; ++k) sum += hn::GetLane(term(one, k));
  return sum;
}

template <class T, class C = Computed<T>>
HWY_INLINE void Weigh(const C* terms, C factor, T* y, size_t n) {
  const hn::ScalableTag<C> d;
  ForEachVector(d, n, [&](auto dk, size_t k) HWY_ATTR {
    Write(dk, hn::Mul(hn::LoadU(dk, terms + k), hn::Set(dk, factor)), y + k);
  });
}

template <class T, class C = Computed<T>>
HWY_INLINE void SoftmaxAll(const SoftmaxRows& rows, const T* x, T* y, C* terms, bool stream) {
  alignas(64) T buffer[kStreamBuffer / sizeof(T)];
  constexpr size_t kStep = kStreamBuffer / sizeof(T);
  for (size_t n = 0; n < rows.N; ++n, x += rows.x_row, y += rows.y_row) {
    const C sum = Exponentials(x, LargestIn(x, rows.M), terms, rows.M);
    if (!stream) {
      Weigh(terms, 1 / sum, y, rows.M);
      continue;
    }
    for (size_t k = 0; k < rows.M; k += kStep) {
      const size_t count = std::min(kStep, rows.M - k);
      Weigh(terms + k, 1 / sum, buffer, count);
      StreamCopy(buffer, y + k, count * sizeof(T), x + rows.x_row + k);
    }
  }
}

void SoftmaxF64(const SoftmaxRows& r, const double* x, double* y, double* terms, bool s) {
  SoftmaxAll(r, x, y, terms, s);
}
void SoftmaxF32(const SoftmaxRows& r, const float* x, float* y, float* terms, bool s) {
  SoftmaxAll(r, x, y, terms, s);
}
void SoftmaxF16(const SoftmaxRows& r, const F16* x, F16* y, float* terms, bool s) {
  SoftmaxAll(r, x, y, terms, s);
}
void SoftmaxBF16(const SoftmaxRows& r, const BF16* x, BF16* y, float* terms, bool s) {
  SoftmaxAll(r, x, y, terms, s);
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(SoftmaxF64);
HWY_EXPORT(SoftmaxF32);
HWY_EXPORT(SoftmaxF16);
HWY_EXPORT(SoftmaxBF16);

template <Element T>
void SoftmaxOfRows(const SoftmaxRows& rows, const T* x, T* y, Computed<T>* scratch) noexcept {
  const bool stream = x != y && ShouldStream(2 * rows.N * rows.M * sizeof(T));
  if constexpr (std::same_as<T, double>) {
    HWY_DYNAMIC_DISPATCH(SoftmaxF64)(rows, x, y, scratch, stream);
  } else if constexpr (std::same_as<T, float>) {
    HWY_DYNAMIC_DISPATCH(SoftmaxF32)(rows, x, y, scratch, stream);
  } else if constexpr (std::same_as<T, F16>) {
    HWY_DYNAMIC_DISPATCH(SoftmaxF16)(rows, x, y, scratch, stream);
  } else {
    HWY_DYNAMIC_DISPATCH(SoftmaxBF16)(rows, x, y, scratch, stream);
  }
  if (stream) StreamFence();
}

template void SoftmaxOfRows(const SoftmaxRows&, const double*, double*, double*) noexcept;
template void SoftmaxOfRows(const SoftmaxRows&, const float*, float*, float*) noexcept;
template void SoftmaxOfRows(const SoftmaxRows&, const F16*, F16*, float*) noexcept;
template void SoftmaxOfRows(const SoftmaxRows&, const BF16*, BF16*, float*) noexcept;

namespace {

Tensors Run(const Case& c, const Tensors& inputs) {
  const size_t N = ExtentOf(c, "N"), M = ExtentOf(c, "M");
  const auto row = static_cast<ptrdiff_t>(M);
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    const std::vector<T> x = ToElements<T>(inputs[0].values);
    std::vector<T> y(x.size());
    std::vector<Computed<T>> scratch(M);
    SoftmaxOfRows({N, M, row, row}, x.data(), y.data(), scratch.data());
    return {ToTensor("y", {N, M}, y)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<Softmax>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
#endif
