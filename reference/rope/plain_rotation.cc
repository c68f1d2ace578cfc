#include "reference/rope/plain_rotation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/rope/plain_rotation.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/number/counted/counted_vectors-inl.h"
#include "reference/number/recipe/evaluation_context.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// Neither 0 nor a power of two, and finite. Also excludes all numbers below the normal doubles.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void RequireOrdinaryFactor(D d, V x, Ordinary<D>& ordinary) {
  const hn::RebindToUnsigned<D> bits;
  const auto fraction = hn::And(hn::BitCast(bits, x), hn::Set(bits, (uint64_t{1} << 52) - 1));
  const auto is_zero = hn::RebindMask(d, hn::Eq(fraction, hn::Zero(bits)));
  const V size = hn::Abs(x);
  ordinary.Require(hn::And(hn::Not(is_zero), hn::Ge(size, hn::Set(d, 0x1p-1022))));
  ordinary.Require(hn::Le(size, hn::Set(d, std::numeric_limits<double>::max())));
}

// The pairs of one vector, of which `k` is the first.
template <class D>
HWY_INLINE void RotateAt(D d, const PlainPairs& pairs, const OrdinaryRange& format, size_t k) {
  const auto x = hn::LoadU(d, pairs.x_first + k), other = hn::LoadU(d, pairs.x_second + k);
  const auto c = LoadCounted(d, pairs.cos, k), s = LoadCounted(d, pairs.sin, k);
  Ordinary<D> ordinary(d);
  RequireOrdinaryFactor(d, x, ordinary);
  RequireOrdinaryFactor(d, other, ordinary);
  auto x_cos = ProductOf(d, x, c), other_sin = ProductOf(d, other, s);
  auto x_sin = ProductOf(d, x, s), other_cos = ProductOf(d, other, c);
  Round(d, format, x_cos, ordinary);
  Round(d, format, other_sin, ordinary);
  Round(d, format, x_sin, ordinary);
  Round(d, format, other_cos, ordinary);
  other_sin.center = Negated(other_sin.center);
  auto first = SumOf(d, x_cos, other_sin), second = SumOf(d, x_sin, other_cos);
  Round(d, format, first, ordinary);
  Round(d, format, second, ordinary);
  StoreCounted(d, first, pairs.first, k);
  StoreCounted(d, second, pairs.second, k);
  hn::StoreU(ordinary.marks(), d, pairs.ordinary + k);
}

void RotatePairs(const PlainPairs& pairs, const OrdinaryRange& format) {
  ForEachVector(pairs.count, [&](auto d, size_t k) HWY_ATTR { RotateAt(d, pairs, format, k); });
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(RotatePairs);

// True if products with the number have no special case: it is not exact, so no result is.
bool IsPlainFactor(const Counted& x) {
  return x.drift() > 0 && std::isfinite(x.drift()) && std::isfinite(x.error()) && !x.saturated();
}

bool ArePlainInputs(std::span<const Counted> x, const StepRule& rule) {
  return std::ranges::all_of(x, [&](const Counted& number) {
    return number.IsExact() && number.center().low == 0 && !number.saturated() && number.format() &&
           Contains(rule.format, *number.format());
  });
}

}  // namespace

PlainRotation::PlainRotation(std::span<const Counted> cos, std::span<const Counted> sin)
    : cos_(cos),
      sin_(sin),
      rule_(CurrentRule()),
      table_cos_(cos.size()),
      table_sin_(cos.size()),
      first_(cos.size()),
      second_(cos.size()),
      x_(2 * cos.size()),
      ordinary_(cos.size()) {
  plain_ = !rule_.exact && !rule_.flushes && std::ranges::all_of(cos, IsPlainFactor) &&
           std::ranges::all_of(sin, IsPlainFactor);
  for (size_t k = 0; plain_ && k < cos.size(); ++k) {
    table_cos_.Set(k, Converted(cos[k]));
    table_sin_.Set(k, Converted(sin[k]));
  }
}

bool PlainRotation::operator()(Pairing pairing, std::span<const Counted> x, std::span<Counted> y) {
  if (!plain_ || !ArePlainInputs(x, rule_)) return false;
  const size_t half = cos_.size();
  for (size_t k = 0; k < half; ++k) {
    const auto [i, j] = ChannelsOf(pairing, k, 2 * half);
    x_[k] = x[i].center().high;
    x_[half + k] = x[j].center().high;
  }
  HWY_DYNAMIC_DISPATCH(RotatePairs)
  ({.count = half,
    .x_first = x_.data(),
    .x_second = x_.data() + half,
    .cos = table_cos_.numbers(),
    .sin = table_sin_.numbers(),
    .first = first_.numbers(),
    .second = second_.numbers(),
    .ordinary = ordinary_.data()},
   OrdinaryRange(rule_));
  for (size_t k = 0; k < half; ++k) {
    const auto [i, j] = ChannelsOf(pairing, k, 2 * half);
    if (ordinary_[k] != 0) {
      y[i] = first_.Get(k, rule_.format);
      y[j] = second_.Get(k, rule_.format);
    } else {
      std::tie(y[i], y[j]) = RotatedPair(x[i], x[j], {cos_[k], sin_[k]});
    }
  }
  return true;
}

}  // namespace sextant
#endif
