#include "fast/rope_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/rope_table.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <bit>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "fast/element-inl.h"
#include "fast/kernel.h"
#include "fast/typed.h"
#include "reference/rope_table.h"

#ifndef SEXTANT_FAST_ROPE_TABLE_ROW_
#define SEXTANT_FAST_ROPE_TABLE_ROW_
namespace sextant::fast {

// cos and sin of one position for every frequency, in double.
struct Row {
  const double* cosine;
  const double* sine;
};

}  // namespace sextant::fast
#endif

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

// x +- error rounded to f32. Equal answers are the rounding of every number between.
template <class D, class D32 = hn::Rebind<float, D>>
HWY_INLINE bool RoundF32(D d, hn::VFromD<D> x, hn::VFromD<D> error, float* to) {
  const D32 d32;
  const auto below = hn::DemoteTo(d32, hn::Sub(x, error));
  const auto above = hn::DemoteTo(d32, hn::Add(x, error));
  hn::StoreU(below, d32, to);
  (void)d;
  return hn::AllTrue(d32, hn::Eq(below, above));
}

// The same to 16 bits, by way of f32: `error` covers that rounding too.
template <class T, class D, class D32 = hn::Rebind<float, D>>
HWY_INLINE bool Round16(D d, hn::VFromD<D> x, hn::VFromD<D> error, T* to) {
  const D32 d32;
  const hn::RebindToUnsigned<D32> du;
  const auto below = hn::DemoteTo(d32, hn::Sub(x, error));
  const auto above = hn::DemoteTo(d32, hn::Add(x, error));
  Write(d32, below, to);
  (void)d;
  return hn::AllTrue(du, hn::Eq(RoundTo16<T>(d32, below), RoundTo16<T>(d32, above)));
}

// cos(a+b) = cos a cos b - sin a sin b, sin(a+b) = sin a cos b + cos a sin b. False if some entry
// lies closer to a rounding boundary than `error`; then the row is not to be used.
template <class T>
HWY_INLINE bool CombineRow(Row a, Row b, size_t n, double error, T* cosine, T* sine) {
  const hn::ScalableTag<double> d;
  bool decided = true;
  ForEachVector(d, n, [&](auto dk, size_t k) HWY_ATTR {
    const auto ca = Read(dk, a.cosine + k), sa = Read(dk, a.sine + k);
    const auto cb = Read(dk, b.cosine + k), sb = Read(dk, b.sine + k);
    const auto c = hn::Sub(hn::Mul(ca, cb), hn::Mul(sa, sb));
    const auto s = hn::Add(hn::Mul(sa, cb), hn::Mul(ca, sb));
    const auto e = hn::Set(dk, error);
    if constexpr (Narrow<T>) {
      decided &= Round16(dk, c, e, cosine + k);
      decided &= Round16(dk, s, e, sine + k);
    } else {
      decided &= RoundF32(dk, c, e, cosine + k);
      decided &= RoundF32(dk, s, e, sine + k);
    }
  });
  return decided;
}

bool CombineF32(Row a, Row b, size_t n, double e, float* c, float* s) {
  return CombineRow(a, b, n, e, c, s);
}
bool CombineF16(Row a, Row b, size_t n, double e, F16* c, F16* s) {
  return CombineRow(a, b, n, e, c, s);
}
bool CombineBF16(Row a, Row b, size_t n, double e, BF16* c, BF16* s) {
  return CombineRow(a, b, n, e, c, s);
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(CombineF32);
HWY_EXPORT(CombineF16);
HWY_EXPORT(CombineBF16);

namespace {

// The entries of one position in double-double, each rounded once.
template <Element T>
void ExactRow(double position, std::span<const DoubleDouble> frequency,
              const DoubleDouble& amplitude, T* cosine, T* sine) {
  for (size_t k = 0; k < frequency.size(); ++k) {
    const SineCosine turn = SinCos(frequency[k] * position);
    cosine[k] = FromDoubleDouble<T>(turn.cosine * amplitude);
    sine[k] = FromDoubleDouble<T>(turn.sine * amplitude);
  }
}

// Rows of doubles, each computed when it is first asked for.
class RowsOfTurns {
 public:
  RowsOfTurns(std::span<const DoubleDouble> frequency, const DoubleDouble& amplitude)
      : frequency_(frequency), amplitude_(amplitude) {}
  Row At(int64_t position) {
    std::vector<double>& row = rows_[position];
    const size_t n = frequency_.size();
    if (row.empty()) {
      row.resize(2 * n);
      ExactRow(static_cast<double>(position), frequency_, amplitude_, row.data(), row.data() + n);
    }
    return {row.data(), row.data() + n};
  }

 private:
  std::span<const DoubleDouble> frequency_;
  DoubleDouble amplitude_;
  std::unordered_map<int64_t, std::vector<double>> rows_;
};

template <Element T>
bool Combine(Row a, Row b, size_t n, double error, T* cosine, T* sine) {
  if constexpr (std::same_as<T, float>)
    return HWY_DYNAMIC_DISPATCH(CombineF32)(a, b, n, error, cosine, sine);
  if constexpr (std::same_as<T, F16>)
    return HWY_DYNAMIC_DISPATCH(CombineF16)(a, b, n, error, cosine, sine);
  if constexpr (std::same_as<T, BF16>)
    return HWY_DYNAMIC_DISPATCH(CombineBF16)(a, b, n, error, cosine, sine);
  return false;
}

}  // namespace

// With u = 2^-53 and amplitude A: the four factors carry a relative error of at most u each, the
// two products and the sum one more each; so an entry is off by at most (2u + u + u) A (|ca cb| +
// |sa sb|) (1 + 4u) <= 5 u A, as |ca cb| + |sa sb| <= 1. Subtracting and adding the error in double
// costs another 2 u A: 8 u A covers all. By way of f32 another 2^-24 A.
template <Element T>
void FillTable(std::span<const double> position, std::span<const DoubleDouble> frequency,
               const DoubleDouble& amplitude, T* cosine, T* sine) {
  const size_t n = frequency.size();
  const double error = std::abs(amplitude.high) * (Narrow<T> ? 0x1p-24 + 0x1p-50 : 0x1p-50);
  // For n consecutive positions about sqrt(n) coarse rows and as many fine ones.
  const int fine_bits = std::bit_width(position.size()) / 2;
  const int64_t mask = (int64_t{1} << fine_bits) - 1;
  RowsOfTurns coarse(frequency, amplitude), fine(frequency, DoubleDouble(1.0));
  for (size_t i = 0; i < position.size(); ++i, cosine += n, sine += n) {
    const auto p = static_cast<int64_t>(position[i]);
    const int64_t low = p & mask;
    const bool decided = !std::same_as<T, double> && position.size() > 4 &&
                         Combine(coarse.At(p - low), fine.At(low), n, error, cosine, sine);
    if (!decided) ExactRow(position[i], frequency, amplitude, cosine, sine);
  }
}

template void FillTable(std::span<const double>, std::span<const DoubleDouble>, const DoubleDouble&,
                        double*, double*);
template void FillTable(std::span<const double>, std::span<const DoubleDouble>, const DoubleDouble&,
                        float*, float*);
template void FillTable(std::span<const double>, std::span<const DoubleDouble>, const DoubleDouble&,
                        F16*, F16*);
template void FillTable(std::span<const double>, std::span<const DoubleDouble>, const DoubleDouble&,
                        BF16*, BF16*);

namespace {

Tensors Run(const Case& c, const Tensors& inputs) {
  const auto op = StructOf<RopeTable>(c);
  const std::vector<DoubleDouble> frequency(inputs[1].values.data.begin(),
                                            inputs[1].values.data.end());
  const auto& spec = c.info().signature.outputs[0];
  return WithElement(c.dtype(), [&]<class T>() -> Tensors {
    const Shape shape = c.ShapeOf(spec);
    std::vector<T> cosine(CountOf(shape)), sine(cosine.size());
    FillTable<T>(inputs[0].values.data, frequency, op.attention_factor, cosine.data(), sine.data());
    return {ToTensor("cos", shape, cosine), ToTensor("sin", shape, sine)};
  });
}

}  // namespace

template <>
CaseKernel MakeKernel<RopeTable>() {
  return {DeclinesMixedTypes, Run};
}

}  // namespace sextant::fast
#endif
