#include "reference/number/counted/enclosed_numbers.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/counted/enclosed_numbers.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/counted/counted_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// The parameters of the dtype of a golden, as in UsualDecision (number/exact/decision.cc).
struct GoldenFormat {
  explicit GoldenFormat(DType type)
      : least(PowerOfTwo(std::max(GridOf(type).min_exponent, -900))),
        most(PowerOfTwo(std::min(GridOf(type).max_exponent, 900))),
        below((uint64_t{1} << (53 - GridOf(type).precision)) - 1),
        half((uint64_t{1} << (53 - GridOf(type).precision)) >> 1) {}
  double least, most;
  uint64_t below, half;  // the bits of a double that are not in the format; the first of them
};

// Counted::Permitted for an error, and Counted::Likely.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V FromGolden(D d, V error, V high, V drift, double round_up) {
  const V own = hn::Add(error, drift);
  const V bound =
      hn::Mul(hn::Add(own, hn::Mul(hn::Abs(high), hn::Set(d, 0x1p-73))), hn::Set(d, round_up));
  return hn::IfThenZeroElse(hn::Eq(own, hn::Zero(d)), bound);
}

// The integers nearest to x, ties to even; |x| <= 2^51.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V Nearest(D d, V x) {
  const V shift = hn::Set(d, 0x1.8p52);
  return hn::Sub(hn::Add(x, shift), shift);
}

// The decisions of a vector of numbers.
template <class D>
struct Decisions {
  using V = hn::VFromD<D>;
  HWY_INLINE Decisions(D d, const GoldenFormat& format, const CountedVector<V>& x) {
    const hn::RebindToUnsigned<D> bits;
    const auto uint = [&](uint64_t u) HWY_ATTR { return hn::Set(bits, u); };
    const V high = x.center.high, rest = x.center.low, zero = hn::Zero(d);
    const auto pattern = hn::BitCast(bits, high);
    const auto power = hn::And(pattern, uint(uint64_t{0x7ff0000000000000}));  // 2^e, at most |high|
    const V binade = hn::BitCast(d, power);
    const V of_rest = hn::IfThenElseZero(hn::Gt(x.drift, zero), hn::Set(d, 0x1p-51));
    const V drift =
        hn::Add(hn::Mul(x.drift, hn::Set(d, 1 + 0x1p-50)), hn::Mul(hn::Abs(rest), of_rest));
    const V least = hn::Sub(rest, drift), most = hn::Add(rest, drift);
    const auto same_high =
        hn::And(hn::Eq(hn::Add(high, least), high), hn::Eq(hn::Add(high, most), high));
    constexpr uint64_t kBias = 1023, kFraction = 52;
    const V units =
        hn::BitCast(d, hn::Sub(uint((2 * kBias + 72) << kFraction), power));  // 2^(72-e)
    const V unit = hn::BitCast(d, hn::Sub(power, uint(uint64_t{72} << kFraction)));
    const V in_units = Nearest(d, hn::Mul(least, units));
    const auto same_low = hn::Eq(in_units, Nearest(d, hn::Mul(most, units)));
    const auto has_half = hn::Gt(hn::Set(d, format.half > 0 ? 1.0 : 0.0), zero);
    const auto is_half = hn::Eq(hn::And(pattern, uint(format.below)), uint(format.half));
    const auto is_tie = hn::And(hn::RebindMask(d, is_half), has_half);
    const auto in_range =
        hn::And(hn::Ge(binade, hn::Set(d, format.least)), hn::Lt(binade, hn::Set(d, format.most)));
    decided = hn::And(same_high, same_low);
    is_clear = hn::Or(hn::Not(same_high), same_low);
    ordinary = hn::AndNot(is_tie, in_range);
    value = hn::BitCast(d, hn::And(hn::Add(pattern, uint(format.half)), uint(~format.below)));
    low = hn::Mul(in_units, unit);
  }
  hn::Mask<D> decided;
  hn::Mask<D> is_clear;  // known to be decided, or not to be
  hn::Mask<D> ordinary;  // `value` is the rounded centre
  V value, low;
};

size_t SetGoldens(const CountedNumbers& numbers, size_t count, DType type, Settling settling,
                  const GoldenRun& to, char* left) {
  const GoldenFormat format(type);
  const double round_up = Counted().WithError({1, 1}).Permitted();  // the factor in it
  const bool encloses = settling != Settling::kProves, decides = settling != Settling::kEncloses;
  size_t undecided = 0;
  ForEachVector(count, [&](auto d, size_t k) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const auto x = LoadCounted(d, numbers, k);
    Decisions found(d, format, x);
    if (decides)
      found.ordinary = hn::And(found.ordinary, found.is_clear);
    else
      found.decided = hn::Lt(hn::Zero(d), hn::Zero(d));
    const V high = x.center.high, zero = hn::Zero(d), infinity = hn::Set(d, kInfinity);
    const V permitted = FromGolden(d, x.error, high, x.drift, round_up);
    const V likely = FromGolden(d, x.likely, high, x.drift, round_up);
    const auto has_drift = hn::Gt(x.drift, zero);
    const auto finite = hn::And(hn::Lt(permitted, infinity), hn::Lt(likely, infinity));
    const auto ordinary =
        hn::And(hn::And(found.ordinary, finite), hn::Or(found.decided, has_drift));
    const bool all = hn::AllTrue(d, ordinary);
    std::fill_n(left + k, hn::Lanes(d), !all);
    if (!all) return;
    if (!encloses) undecided += hn::Lanes(d) - hn::CountTrue(d, found.decided);
    const auto known = encloses ? hn::Ge(permitted, zero) : found.decided;
    const V radius = encloses ? hn::Neg(x.drift) : infinity;
    hn::StoreU(hn::IfThenElseZero(known, found.value), d, to.value + k);
    hn::StoreU(hn::IfThenElseZero(known, high), d, to.high + k);
    hn::StoreU(hn::IfThenElseZero(known, hn::IfThenElse(found.decided, found.low, x.center.low)), d,
               to.low + k);
    hn::StoreU(hn::IfThenZeroElse(found.decided, radius), d, to.radius + k);
    hn::StoreU(permitted, d, to.permitted + k);
    hn::StoreU(likely, d, to.likely + k);
  });
  return undecided;
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(SetGoldens);

}  // namespace

size_t SetGoldens(const CountedNumbers& numbers, size_t count, DType type, Settling settling,
                  const GoldenRun& to, std::span<char> left) {
  return HWY_DYNAMIC_DISPATCH(SetGoldens)(numbers, count, type, settling, to, left.data());
}

}  // namespace sextant
#endif
