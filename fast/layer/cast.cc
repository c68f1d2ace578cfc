#include "fast/layer/cast.h"

#include "fast/simd/stream.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fast/layer/cast.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <utility>

#include "fast/kernel/kernel.h"
#include "fast/kernel/typed.h"
#include "fast/simd/element-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::fast {
namespace HWY_NAMESPACE {

template <DType kType>
struct StoredType {
  using Type = uint8_t;
};
template <>
struct StoredType<DType::kF64> {
  using Type = double;
};
template <>
struct StoredType<DType::kF32> {
  using Type = float;
};
template <>
struct StoredType<DType::kF16> {
  using Type = F16;
};
template <>
struct StoredType<DType::kBF16> {
  using Type = BF16;
};
template <DType kType>
using Stored = typename StoredType<kType>::Type;

template <DType kType>
inline constexpr int kFractionBits = GridOf(kType).precision - 1;

// Numbers of 8 or 4 bits, in f32. A pattern without its sign is an exponent and a fraction, as in
// f32.
template <DType kType, class D>
HWY_INLINE hn::VFromD<D> Decode(D d, const uint8_t* p) {
  constexpr int kFraction = kFractionBits<kType>, kLeast = GridOf(kType).min_exponent;
  const hn::RebindToUnsigned<D> du;
  const auto code = hn::PromoteTo(du, hn::LoadU(hn::Rebind<uint8_t, D>(), p));
  constexpr int kBits = RowOf(kType).bits;
  if constexpr (RowOf(kType).patterns == Patterns::kInteger) {
    const auto upper = hn::BitCast(hn::RebindToSigned<D>(), hn::ShiftLeft<32 - kBits>(code));
    return hn::ConvertTo(d, hn::ShiftRight<32 - kBits>(upper));
  }
  constexpr uint32_t kSign = 1u << (kBits - 1);
  const auto magnitude = hn::And(code, hn::Set(du, kSign - 1));
  const auto shifted = hn::ShiftLeft<23 - kFraction>(magnitude);
  const auto with_exponent = [=](uint32_t exponent) SEXTANT_INLINE {
    return hn::BitCast(d, hn::Add(shifted, hn::Set(du, exponent << 23)));
  };
  // A subnormal number is the rest of the sum of it and the smallest normal number.
  const auto least = hn::Set(d, static_cast<float>(PowerOfTwo(kLeast)));
  const auto subnormal = hn::Sub(with_exponent(127 + kLeast), least);
  const auto is_subnormal = hn::Lt(hn::BitCast(hn::RebindToSigned<D>(), magnitude),
                                   hn::Set(hn::RebindToSigned<D>(), 1 << kFraction));
  auto y = hn::IfThenElse(hn::RebindMask(d, is_subnormal), subnormal, with_exponent(126 + kLeast));
  const auto special = [=](uint32_t pattern, uint32_t bits) SEXTANT_INLINE {
    const auto is_it = hn::Eq(pattern > 0x7f ? code : magnitude, hn::Set(du, pattern));
    return std::pair(hn::RebindMask(d, is_it), hn::BitCast(d, hn::Set(du, bits)));
  };
  constexpr uint32_t kInfinityBits = 0x7f800000, kNanBits = 0x7fc00000;
  if constexpr (kType == DType::kF8E5M2) {
    const auto is_special = hn::Gt(hn::BitCast(hn::RebindToSigned<D>(), magnitude),
                                   hn::Set(hn::RebindToSigned<D>(), 0x7b));
    const auto [is_infinity, infinity] = special(0x7c, kInfinityBits);
    y = hn::IfThenElse(hn::RebindMask(d, is_special), hn::BitCast(d, hn::Set(du, kNanBits)), y);
    y = hn::IfThenElse(is_infinity, infinity, y);
  } else if constexpr (HasNaN(kType)) {
    const auto [is_nan, nan] = special(kType == DType::kF8E4M3FN ? 0x7f : 0x80, kNanBits);
    y = hn::IfThenElse(is_nan, nan, y);
  }
  const auto sign = hn::ShiftLeft<32 - kBits>(hn::And(code, hn::Set(du, kSign)));
  return hn::Or(y, hn::BitCast(d, sign));
}

// Patterns of a type of 16, 8 or 4 bits, without the sign.
struct Codes {
  Codes(DType type, Overflow overflow)
      : largest(CodeOf(type, MaxFinite(type))),
        beyond(CodeOf(type, CastTo(type, overflow, kInfinity))),
        nan(CodeOf(type, kNaN)) {}
  static uint32_t CodeOf(DType type, double x) {
    return static_cast<uint32_t>(EncodeBits(type, x));
  }
  uint32_t largest;  // of the largest number
  uint32_t beyond;   // of what is too large
  uint32_t nan;
};

// The patterns of v in a type of 16, 8 or 4 bits.
template <DType kType, class D>
HWY_INLINE hn::VFromD<hn::RebindToUnsigned<D>> Encode(D d, hn::VFromD<D> v, const Codes& codes) {
  constexpr int kFraction = kFractionBits<kType>, kLeast = GridOf(kType).min_exponent;
  constexpr int kDropped = 23 - kFraction;
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  if constexpr (RowOf(kType).patterns == Patterns::kInteger) {
    const auto low = hn::Set(d, static_cast<float>(Lowest(kType)));
    const auto high = hn::Set(d, static_cast<float>(MaxFinite(kType)));
    const auto number = hn::BitCast(du, hn::NearestInt(hn::Clamp(v, low, high)));
    return hn::And(number, hn::Set(du, (1u << RowOf(kType).bits) - 1));
  }
  const auto magnitude = hn::Abs(v);
  const auto bits = hn::BitCast(du, magnitude);
  // Rebias the exponent. A carry of the rounding into the exponent is correct.
  constexpr uint32_t kRebias = static_cast<uint32_t>(126 + kLeast) << 23;
  const auto odd = hn::And(hn::ShiftRight<kDropped>(bits), hn::Set(du, 1));
  const auto half = hn::Set(du, (1u << (kDropped - 1)) - 1 - kRebias);
  auto code = hn::ShiftRight<kDropped>(hn::Add(bits, hn::Add(odd, half)));
  if constexpr (kRebias != 0) {
    // The ulp of this number is the smallest number of the type, so that the sum rounds correctly.
    const auto large = hn::Set(d, static_cast<float>(PowerOfTwo(kLeast + kDropped)));
    const auto tiny = hn::Sub(hn::BitCast(du, hn::Add(magnitude, large)), hn::BitCast(du, large));
    const auto least = hn::Set(d, static_cast<float>(PowerOfTwo(kLeast)));
    code = hn::IfThenElse(hn::RebindMask(du, hn::Lt(magnitude, least)), tiny, code);
  }
  const auto is_beyond =
      hn::Gt(hn::BitCast(di, code), hn::Set(di, static_cast<int32_t>(codes.largest)));
  code = hn::IfThenElse(hn::RebindMask(du, is_beyond), hn::Set(du, codes.beyond), code);
  code = hn::IfThenElse(hn::RebindMask(du, hn::IsNaN(v)), hn::Set(du, codes.nan), code);
  auto sign = hn::ShiftRight<32 - RowOf(kType).bits>(hn::Xor(hn::BitCast(du, v), bits));
  if constexpr (RowOf(kType).patterns == Patterns::kFnuz)  // no -0
    sign = hn::IfThenZeroElse(hn::Eq(code, hn::Zero(du)), sign);
  return hn::Or(code, sign);
}

// Rounds numbers of f64 to those that a narrower type would have without a limit to its exponents.
struct ToGrid {
  explicit ToGrid(DType type)
      : least(PowerOfTwo(GridOf(type).min_exponent)),
        reach(1.5 * PowerOfTwo(53 - GridOf(type).precision)) {}
  // Adding a number whose ulp is the unit of the result rounds to it.
  template <class D, class V = hn::VFromD<D>>
  HWY_INLINE V Round(D d, V v) const {
    const hn::RebindToUnsigned<D> du;
    const V magnitude = hn::Abs(v);
    const auto exponent = hn::And(hn::BitCast(du, v), hn::Set(du, uint64_t{0x7ff} << 52));
    const V power = hn::Max(hn::BitCast(d, exponent), hn::Set(d, least));
    const V large = hn::Mul(power, hn::Set(d, reach));
    const V rounded = hn::Sub(hn::Add(magnitude, large), large);
    const auto is_large = hn::Not(hn::Lt(magnitude, hn::Set(d, 0x1p900)));  // or NaN
    return hn::CopySign(hn::IfThenElse(is_large, v, rounded), v);
  }

  double least;  // the smallest normal number
  double reach;  // times a power of two: the number to be added where the power is the binade
};

// v, but the largest number where it is infinite.
template <class D>
HWY_INLINE hn::VFromD<D> Saturated(D d, hn::VFromD<D> v) {
  constexpr DType kType = sizeof(hn::TFromD<D>) == 8 ? DType::kF64 : DType::kF32;
  const auto largest = hn::Set(d, static_cast<hn::TFromD<D>>(MaxFinite(kType)));
  return hn::IfThenElse(hn::Gt(hn::Abs(v), largest), hn::CopySign(largest, v), v);
}

using WideTag = hn::ScalableTag<double>;

// The conversion goes by way of f32, in blocks that stay in the first-level cache: so there is code
// for each type, not for each pair.
constexpr size_t kBlock = 1024;

// Reads n elements as f32. Numbers of f64 are rounded to the target, except f32, before.
template <DType kFrom>
HWY_NOINLINE void ReadBlock(const Stored<kFrom>* x, [[maybe_unused]] const ToGrid* grid, float* to,
                            size_t n) {
  if constexpr (kFrom == DType::kF64) {
    ForEachVector(hn::Rebind<float, WideTag>(), n, [=](auto d, size_t k) SEXTANT_INLINE {
      const hn::Rebind<double, decltype(d)> wide;
      const auto v = hn::LoadU(wide, x + k);
      auto y = hn::DemoteTo(d, grid ? grid->Round(wide, v) : v);
      // DemoteTo of Highway 1.0.3 saturates there.
      if constexpr (HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128) {
        const auto is_beyond = hn::Ge(hn::Abs(v), hn::Set(wide, 0x1.ffffffp127));
        const auto factor = hn::IfThenElse(is_beyond, hn::Set(wide, 2.0), hn::Set(wide, 1.0));
        y = hn::Mul(y, hn::DemoteTo(d, factor));
      }
      hn::StoreU(y, d, to + k);
    });
  } else {
    ForEachVector(hn::ScalableTag<float>(), n, [=](auto d, size_t k) SEXTANT_INLINE {
      if constexpr (SizeOf(kFrom) == 1) {
        hn::StoreU(Decode<kFrom>(d, x + k), d, to + k);
      } else {
        hn::StoreU(Read(d, x + k), d, to + k);
      }
    });
  }
}

// Writes n numbers of f32.
template <DType kTo>
HWY_NOINLINE void WriteBlock(const float* v, bool saturate, const Codes& codes, Stored<kTo>* y,
                             size_t n) {
  if constexpr (kTo == DType::kF64) {
    ForEachVector(hn::Rebind<float, WideTag>(), n, [=](auto d, size_t k) SEXTANT_INLINE {
      const hn::Rebind<double, decltype(d)> wide;
      const auto numbers = hn::PromoteTo(wide, hn::LoadU(d, v + k));
      hn::StoreU(saturate ? Saturated(wide, numbers) : numbers, wide, y + k);
    });
  } else {
    ForEachVector(hn::ScalableTag<float>(), n, [=](auto d, size_t k) SEXTANT_INLINE {
      const auto numbers = hn::LoadU(d, v + k);
      if constexpr (kTo == DType::kF32) {
        hn::StoreU(saturate ? Saturated(d, numbers) : numbers, d, y + k);
      } else {
        using Bits = std::conditional_t<SizeOf(kTo) == 1, uint8_t, uint16_t>;
        const hn::Rebind<Bits, decltype(d)> narrow;
        const auto code = Encode<kTo>(d, numbers, codes);
        const auto bits = hn::BitCast(hn::RebindToSigned<decltype(d)>(), code);
        hn::StoreU(hn::DemoteTo(narrow, bits), narrow, reinterpret_cast<Bits*>(y + k));
      }
    });
  }
}

HWY_NOINLINE void SaturateF64(const double* x, bool saturate, double* y, size_t n) {
  ForEachVector(WideTag(), n, [=](auto d, size_t k) SEXTANT_INLINE {
    const auto v = hn::LoadU(d, x + k);
    hn::StoreU(saturate ? Saturated(d, v) : v, d, y + k);
  });
}

// Calls f.template operator()<type>().
template <class F>
void WithType(DType type, const F& f) {
  switch (type) {
    case DType::kF64:
      return f.template operator()<DType::kF64>();
    case DType::kF32:
      return f.template operator()<DType::kF32>();
    case DType::kF16:
      return f.template operator()<DType::kF16>();
    case DType::kBF16:
      return f.template operator()<DType::kBF16>();
    case DType::kF8E4M3FN:
      return f.template operator()<DType::kF8E4M3FN>();
    case DType::kF8E5M2:
      return f.template operator()<DType::kF8E5M2>();
    case DType::kF8E4M3FNUZ:
      return f.template operator()<DType::kF8E4M3FNUZ>();
    case DType::kF8E5M2FNUZ:
      return f.template operator()<DType::kF8E5M2FNUZ>();
    case DType::kF4E2M1:
      return f.template operator()<DType::kF4E2M1>();
    case DType::kI8:
      return f.template operator()<DType::kI8>();
    case DType::kI4:
      return f.template operator()<DType::kI4>();
    case DType::kE8M0:
    case DType::kI64:
      break;
  }
}

void ConvertElements(DType from, UntypedInput x, DType to, UntypedOutput y, Overflow overflow,
                     size_t count, bool stream) {
  const bool saturate = overflow == Overflow::kSaturate;
  if (from == DType::kF64 && to == DType::kF64) return SaturateF64(x, saturate, y, count);
  const Codes codes(to, overflow);
  const ToGrid grid(to);
  const ToGrid* const narrower = to == DType::kF32 ? nullptr : &grid;
  const auto* const bytes = static_cast<const std::byte*>(x.data);
  float block[kBlock];
  const auto read = [&](size_t k, size_t n) -> const float* {
    const UntypedInput elements(bytes + k * SizeOf(from));
    if (from == DType::kF32) return elements;
    WithType(from, [&]<DType kFrom>() { ReadBlock<kFrom>(elements, narrower, block, n); });
    return block;
  };
  WithType(to, [&]<DType kTo>() {
    using T = Stored<kTo>;
    WriteRow(count, stream, static_cast<T*>(y.data), [&](size_t k, size_t n, T* row) {
      for (size_t i = 0; i < n; i += kBlock) {
        const size_t part = std::min(kBlock, n - i);
        WriteBlock<kTo>(read(k + i, part), saturate, codes, row + i, part);
      }
      return reinterpret_cast<const T*>(bytes + (k + n) * SizeOf(from));
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace sextant::fast
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::fast {

HWY_EXPORT(ConvertElements);

void Convert(DType from, const void* x, DType to, void* y, Overflow overflow, size_t count) {
  const bool stream = x != y && ShouldStream(count * (SizeOf(from) + SizeOf(to)));
  InElementParts(count, [&](size_t first, size_t part) {
    HWY_DYNAMIC_DISPATCH(ConvertElements)
    (from, static_cast<const std::byte*>(x) + first * SizeOf(from), to,
     static_cast<std::byte*>(y) + first * SizeOf(to), overflow, part, stream);
    if (stream) StreamFence();
  });
}

namespace {

StoredTensors RunCast(const Case& c, const StoredTensors& inputs) {
  StoredTensors y = OutputsOf(c);
  Convert(inputs[0].dtype(), inputs[0].As<std::byte>(), y[0].dtype(), y[0].As<std::byte>(),
          StructOf<Cast>(c).overflow, CountOf(y[0].shape()));
  return y;
}

std::string DeclinesNoCast(const Case&) { return ""; }

}  // namespace

template <>
CaseKernel MakeKernel<Cast>() {
  return {DeclinesNoCast, RunCast};
}

}  // namespace sextant::fast
#endif
