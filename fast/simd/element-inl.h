// Loads and stores of elements as vectors of Computed<T>, for the instruction set being compiled.
// The names differ from Highway's because argument-dependent lookup would find Highway's Load,
// which requires alignment. 16-bit stores round to nearest, ties to even; Highway 1.0.3 truncates
// when it demotes to bf16, and also to f16 on targets without a conversion instruction.
#if defined(SEXTANT_FAST_ELEMENT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_FAST_ELEMENT_INL_H_
#undef SEXTANT_FAST_ELEMENT_INL_H_
#else
#define SEXTANT_FAST_ELEMENT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>

#include "fast/simd/element.h"
#include "fast/simd/processor.h"
#include "fast/simd/stream.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Rounding of f32 vectors to bf16: by AVX512_BF16 (processor.h), or by integer arithmetic.
enum class Rounding { kPortable, kInstruction };
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr bool kMayHaveBF16Instruction = true;
#else
constexpr bool kMayHaveBF16Instruction = false;
#endif

// AVX2 and above convert f16 in hardware, with correct rounding.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
constexpr bool kConvertsF16 = true;
#else
constexpr bool kConvertsF16 = false;
#endif

// Attributes for a lambda that is called in a loop over vectors, written after its parameters.
// Without them g++ may not inline the lambda, and every call would reload all constants.
#define SEXTANT_INLINE HWY_ATTR __attribute__((always_inline))

// Calls body(d, k) for the vectors at k, k + Lanes(d), ..., then with shorter tags for the rest.
template <class D, class Body>
HWY_INLINE void ForEachVector(D d, size_t count, const Body& body, size_t k = 0) {
  for (; k + hn::Lanes(d) <= count; k += hn::Lanes(d)) body(d, k);
  if constexpr (hn::MaxLanes(d) > 1) {
    if (k < count) ForEachVector(hn::Half<D>(), count, body, k);
  }
}

// Writes `count` elements to y by calls of fill(k, n, to), which writes elements k to k + n - 1 to
// `to` and returns the address of the data to be read next. One call writes all to y. If `stream`,
// each call writes to a small buffer that is copied by streaming stores.
template <class T, class Fill>
HWY_INLINE void WriteRow(size_t count, bool stream, T* y, const Fill& fill) {
  constexpr size_t kStep = kStreamBuffer / sizeof(T);
  alignas(64) T buffer[kStep];
  for (size_t k = 0, n; k < count; k += n) {
    n = stream ? std::min(kStep, count - k) : count;
    const T* next = fill(k, n, stream ? buffer : y);
    if (stream) StreamCopy(buffer, y + k, n * sizeof(T), next);
  }
}

// The low 16 bits of each lane as a number of type T, in f32.
template <class T, class D, class V32 = hn::VFromD<hn::RebindToUnsigned<D>>>
HWY_INLINE hn::VFromD<D> Widen([[maybe_unused]] D d, V32 bits) {
  const hn::RebindToUnsigned<D> du;
  if constexpr (std::same_as<T, BF16>) {
    return hn::BitCast(d, hn::ShiftLeft<16>(bits));
  } else {
    // Shifting exponent and significand to their place in f32 gives the number times 2^-112. The
    // product with 2^112 is exact, also for subnormals. Infinity and NaN get exponents >= 143.
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(du, 0x8000)));
    const auto magnitude = hn::ShiftLeft<13>(hn::And(bits, hn::Set(du, 0x7fff)));
    auto x = hn::Mul(hn::BitCast(d, magnitude), hn::Set(d, 0x1p112f));
    const auto special = hn::BitCast(d, hn::Or(magnitude, hn::Set(du, 0x7f800000)));
    x = hn::IfThenElse(hn::Ge(x, hn::Set(d, 0x1p16f)), special, x);
    return hn::Or(x, hn::BitCast(d, sign));
  }
}

// v rounded to bf16, in the high 16 bits of each lane; the low 16 bits are unspecified. Adds half
// an ulp, or one bit less if the high part is even. The result for NaN is unspecified.
template <class D>
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D>> RoundNumberToBF16([[maybe_unused]] D d,
                                                                 hn::VFromD<D> v) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, v);
  const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1));
  return hn::Add(bits, hn::Add(is_odd, hn::Set(du, 0x7fff)));
}
template <class D>
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D>> RoundToBF16(D d, hn::VFromD<D> v) {
  const hn::RebindToUnsigned<D> du;
  const auto quiet = hn::Or(hn::BitCast(du, v), hn::Set(du, 0x00400000));
  return hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), quiet, RoundNumberToBF16(d, v));
}

template <class D>
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D>> RoundToF16(D d, hn::VFromD<D> v) {
  const hn::RebindToUnsigned<D> du;
  const auto magnitude = hn::Abs(v);
  const auto bits = hn::BitCast(du, magnitude);
  const auto sign = hn::AndNot(bits, hn::BitCast(du, v));
  // Rebias the exponent from 127 to 15. A carry of the rounding into the exponent is correct.
  const auto even = hn::And(hn::ShiftRight<13>(bits), hn::Set(du, 1));
  const auto rounded = hn::Add(bits, hn::Add(even, hn::Set(du, 0xfff - (112u << 23))));
  auto half = hn::ShiftRight<13>(rounded);
  // Below 2^-14, adding 1/2 rounds correctly: the ulp of the sum is the smallest number of f16.
  const auto tiny = hn::BitCast(du, hn::Add(magnitude, hn::Set(d, 0.5f)));
  const auto is_tiny = hn::RebindMask(du, hn::Lt(magnitude, hn::Set(d, 0x1p-14f)));
  half = hn::IfThenElse(is_tiny, hn::Sub(tiny, hn::BitCast(du, hn::Set(d, 0.5f))), half);
  const auto is_large = hn::RebindMask(du, hn::Ge(magnitude, hn::Set(d, 65520.0f)));
  half = hn::IfThenElse(is_large, hn::Set(du, 0x7c00), half);
  half = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), hn::Set(du, 0x7e00), half);
  return hn::Or(half, hn::ShiftRight<16>(sign));
}

// v rounded to T, in the low 16 bits of each lane; the high 16 bits are 0.
template <class T, class D>
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D>> RoundTo16(D d, hn::VFromD<D> v) {
  if constexpr (std::same_as<T, BF16>) {
    return hn::ShiftRight<16>(RoundToBF16(d, v));
  } else if constexpr (kConvertsF16) {
    const hn::Rebind<uint16_t, D> d16;
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(hn::RebindToUnsigned<D>(), hn::BitCast(d16, hn::DemoteTo(half, v)));
  } else {
    return RoundToF16(d, v);
  }
}

template <class D>
HWY_INLINE hn::VFromD<D> Read(D d, const hn::TFromD<D>* p) {
  return hn::LoadU(d, p);
}
template <Narrow T, class D>
HWY_INLINE hn::VFromD<D> Read(D d, const T* p) {
  const hn::Rebind<uint16_t, D> d16;
  if constexpr (kConvertsF16 && std::same_as<T, F16>) {
    const hn::Rebind<hwy::float16_t, D> half;
    return hn::PromoteTo(d,
                         hn::BitCast(half, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(p))));
  }
  const hn::RebindToUnsigned<D> du;
  return Widen<T>(d, hn::PromoteTo(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(p))));
}

template <class D>
HWY_INLINE void Write(D d, hn::VFromD<D> v, hn::TFromD<D>* p) {
  hn::StoreU(v, d, p);
}
template <Narrow T, class D>
HWY_INLINE void Write(D d, hn::VFromD<D> v, T* p) {
  const hn::Rebind<uint16_t, D> d16;
  if constexpr (kConvertsF16 && std::same_as<T, F16>) {
    const hn::Rebind<hwy::float16_t, D> half;
    hn::StoreU(hn::BitCast(d16, hn::DemoteTo(half, v)), d16, reinterpret_cast<uint16_t*>(p));
    return;
  }
  const auto bits = RoundTo16<T>(d, v);
  const hn::RebindToSigned<D> di;
  hn::StoreU(hn::DemoteTo(d16, hn::BitCast(di, bits)), d16, reinterpret_cast<uint16_t*>(p));
}

// Reads 2 Lanes(d) adjacent elements: even indices into a, odd indices into b.
template <class D>
HWY_INLINE void ReadPairs(D d, const hn::TFromD<D>* p, hn::VFromD<D>& a, hn::VFromD<D>& b) {
  hn::LoadInterleaved2(d, p, a, b);
}
template <Narrow T, class D>
HWY_INLINE void ReadPairs(D d, const T* p, hn::VFromD<D>& a, hn::VFromD<D>& b) {
  if constexpr (hn::MaxLanes(d) == 1) {
    a = Read(d, p);
    b = Read(d, p + 1);
  } else if constexpr (kConvertsF16 && std::same_as<T, F16>) {
    const auto low = Read(d, p), high = Read(d, p + hn::Lanes(d));
    a = ConcatEven(d, high, low);  // unqualified, because the scalar target lacks it
    b = ConcatOdd(d, high, low);
  } else {
    const hn::RebindToUnsigned<D> du;
    const hn::Repartition<uint16_t, D> d16;
    const auto both = hn::BitCast(du, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(p)));
    if constexpr (std::same_as<T, BF16>) {
      a = hn::BitCast(d, hn::ShiftLeft<16>(both));
      b = hn::BitCast(d, hn::And(both, hn::Set(du, 0xffff0000)));
    } else {
      a = Widen<T>(d, hn::And(both, hn::Set(du, 0xffff)));
      b = Widen<T>(d, hn::ShiftRight<16>(both));
    }
  }
}

template <class D, class V>
HWY_INLINE void WritePairsOfBF16(D d, V a, V b, uint16_t* p) {
  const hn::Repartition<uint16_t, D> d16;
  const auto join = [=](auto low, auto high) SEXTANT_INLINE {
    return hn::OddEven(hn::BitCast(d16, high), hn::BitCast(d16, hn::ShiftRight<16>(low)));
  };
  // a + b is NaN if a or b is NaN. This is rare, so a branch is cheaper than two selections.
  if (HWY_UNLIKELY(!hn::AllFalse(d, hn::IsNaN(hn::Add(a, b))))) {
    hn::StoreU(join(RoundToBF16(d, a), RoundToBF16(d, b)), d16, p);
  } else {
    hn::StoreU(join(RoundNumberToBF16(d, a), RoundNumberToBF16(d, b)), d16, p);
  }
}

template <Rounding = Rounding::kPortable, class D>
HWY_INLINE void WritePairs(D d, hn::VFromD<D> a, hn::VFromD<D> b, hn::TFromD<D>* p) {
  hn::StoreInterleaved2(a, b, d, p);
}
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
// Inline assembly, because Highway's target attributes do not enable the intrinsic.
template <class V>
HWY_INLINE __m512i RoundByInstruction(V low, V high) {
  __m512i both;
  asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(both) : "v"(high.raw), "v"(low.raw));
  return both;
}

// The instruction flushes subnormal inputs to zero. True if a, b, c or d, which it rounded to ab
// and cd, contain a subnormal number: then its result must not be used. This is rare; if no result
// is zero, two tests decide.
template <class V>
HWY_INLINE bool LostSubnormals(__m512i ab, __m512i cd, V a, V b, V c, V d) {
  const __mmask32 zeros_ab = _mm512_testn_epi16_mask(ab, _mm512_set1_epi16(0x7fff));
  const __mmask32 zeros_cd = _mm512_testn_epi16_mask(cd, _mm512_set1_epi16(0x7fff));
  if (HWY_LIKELY(_kortestz_mask32_u8(zeros_ab, zeros_cd))) return false;
  constexpr int kSubnormal = 0x20;
  const auto of = [](V v) SEXTANT_INLINE { return _mm512_fpclass_ps_mask(v.raw, kSubnormal); };
  return (of(a) | of(b) | of(c) | of(d)) != 0;
}

// Reads two adjacent vectors. The empty asm statement stops g++ 12 from reloading them at every use
// instead of keeping them in registers.
template <class D, class T>
HWY_INLINE void ReadTwo(D d, const T* p, hn::VFromD<D>& low, hn::VFromD<D>& high) {
  low = Read(d, p);
  high = Read(d, p + hn::Lanes(d));
  asm("" : "+v"(low.raw), "+v"(high.raw));
}
// Each permutation both widens and shifts.
template <class D>
HWY_INLINE void ReadTwo(D d, const BF16* p, hn::VFromD<D>& low, hn::VFromD<D>& high) {
  alignas(64) static constexpr uint16_t kTwice[32] = {0,  0,  1,  1,  2,  2,  3,  3,  4,  4,  5,
                                                      5,  6,  6,  7,  7,  8,  8,  9,  9,  10, 10,
                                                      11, 11, 12, 12, 13, 13, 14, 14, 15, 15};
  constexpr __mmask32 kOdd = 0xaaaaaaaa;
  const __m512i first = _mm512_load_si512(kTwice);
  const __m512i second = _mm512_add_epi16(first, _mm512_set1_epi16(16));
  __m512i both = _mm512_loadu_si512(p);
  asm("" : "+v"(both));
  const hn::RebindToUnsigned<D> du;
  low = hn::BitCast(d, hn::VFromD<decltype(du)>{_mm512_maskz_permutexvar_epi16(kOdd, first, both)});
  high =
      hn::BitCast(d, hn::VFromD<decltype(du)>{_mm512_maskz_permutexvar_epi16(kOdd, second, both)});
}
HWY_INLINE void WriteRounded(__m512i both, BF16* p) { _mm512_storeu_si512(p, both); }

template <class D>
HWY_INLINE void WritePairsByInstruction(D d, hn::VFromD<D> a, hn::VFromD<D> b, BF16* p) {
  const __m512i both = RoundByInstruction(a, b);
  if (HWY_UNLIKELY(LostSubnormals(both, both, a, b, a, b))) {
    WritePairsOfBF16(d, a, b, reinterpret_cast<uint16_t*>(p));
  } else {
    alignas(64) static constexpr uint16_t kZip[32] = {0,  16, 1,  17, 2,  18, 3,  19, 4,  20, 5,
                                                      21, 6,  22, 7,  23, 8,  24, 9,  25, 10, 26,
                                                      11, 27, 12, 28, 13, 29, 14, 30, 15, 31};
    WriteRounded(_mm512_permutexvar_epi16(_mm512_load_si512(kZip), both), p);
  }
}
#endif

template <Rounding rounding = Rounding::kPortable, Narrow T, class D>
HWY_INLINE void WritePairs(D d, hn::VFromD<D> a, hn::VFromD<D> b, T* p) {
  if constexpr (rounding == Rounding::kInstruction && sizeof(hn::VFromD<D>) == 64) {
    WritePairsByInstruction(d, a, b, p);
  } else if constexpr (hn::MaxLanes(d) == 1) {
    Write(d, a, p);
    Write(d, b, p + 1);
  } else if constexpr (std::same_as<T, BF16>) {
    WritePairsOfBF16(d, a, b, reinterpret_cast<uint16_t*>(p));
  } else {
    const hn::Repartition<uint16_t, D> d16;
    const auto low = RoundTo16<T>(d, a), high = hn::ShiftLeft<16>(RoundTo16<T>(d, b));
    hn::StoreU(hn::BitCast(d16, hn::Or(low, high)), d16, reinterpret_cast<uint16_t*>(p));
  }
}

// Two adjacent vectors of bf16.
template <class D>
HWY_INLINE void WriteTwoOfBF16(D d, hn::VFromD<D> low, hn::VFromD<D> high, uint16_t* p) {
  const hn::Repartition<uint16_t, D> d16;
  const auto join = [=](auto a, auto b) SEXTANT_INLINE {
    // Unqualified, because the scalar target lacks it.
    hn::StoreU(ConcatOdd(d16, hn::BitCast(d16, b), hn::BitCast(d16, a)), d16, p);
  };
  if (HWY_UNLIKELY(!hn::AllFalse(d, hn::IsNaN(hn::Add(low, high))))) {  // as WritePairsOfBF16
    join(RoundToBF16(d, low), RoundToBF16(d, high));
  } else {
    join(RoundNumberToBF16(d, low), RoundNumberToBF16(d, high));
  }
}

template <class D>
HWY_INLINE void WriteTwo(D d, hn::VFromD<D> low, hn::VFromD<D> high,
                         [[maybe_unused]] Rounding rounding, BF16* p) {
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  if (rounding == Rounding::kInstruction) {
    const __m512i both = RoundByInstruction(low, high);
    if (HWY_LIKELY(!LostSubnormals(both, both, low, high, low, high))) return WriteRounded(both, p);
  }
#endif
  WriteTwoOfBF16(d, low, high, reinterpret_cast<uint16_t*>(p));
}

// How stores of T round on this processor.
template <class T>
HWY_INLINE Rounding RoundingTo() {
  const bool may = kMayHaveBF16Instruction && std::same_as<T, BF16>;
  return may && HasBF16Instruction() ? Rounding::kInstruction : Rounding::kPortable;
}

// y_k = value(d, k) for the whole vectors that begin at k = first and end at `last` or before;
// returns the end of the last of them. value returns elements k .. k + Lanes(d) - 1.
template <class T, class D, class Value>
HWY_INLINE size_t WriteVectors(D d, size_t first, size_t last, Rounding rounding, T* y,
                               const Value& value) {
  const size_t N = hn::Lanes(d);
  size_t k = first;
  if constexpr (std::same_as<T, BF16> && hn::MaxLanes(d) > 1) {
    for (; k + 2 * N <= last; k += 2 * N)
      WriteTwo(d, value(d, k), value(d, k + N), rounding, y + k);
  }
  for (; k + N <= last; k += N) Write(d, value(d, k), y + k);
  return k;
}

// y_k = value(d, k) for k < count; the last vectors may be shorter.
template <class T, class D, class Value>
HWY_INLINE void WriteEach(D d, size_t count, T* y, const Value& value) {
  const size_t done = WriteVectors(d, 0, count, RoundingTo<T>(), y, value);
  if (done == count) return;
  const auto write = [&](auto dk, size_t k) SEXTANT_INLINE { Write(dk, value(dk, k), y + k); };
  ForEachVector(d, count, write, done);
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#endif
