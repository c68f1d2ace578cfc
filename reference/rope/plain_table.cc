#include "reference/rope/plain_table.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/rope/plain_table.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "reference/number/counted/counted_vectors-inl.h"
#include "reference/number/recipe/rounding_units.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// position * frequency in step angle, as operator* of Counted.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> AngleAt(D d, const PlainEntries& e, size_t k, Ordinary<D>& ordinary) {
  const auto f = LoadCounted(d, e.frequency, k);
  const V p = hn::Set(d, e.position), error = hn::Set(d, e.position_error);
  const V size_p = MagnitudeOf(d, p, hn::Zero(d)), size_f = MagnitudeOf(d, f.center.high, f.drift);
  const auto through = [&](V of_f) HWY_ATTR {
    return hn::Add(hn::Add(hn::Mul(size_p, of_f), hn::Mul(size_f, error)), hn::Mul(error, of_f));
  };
  CountedVector<V> y{ProductOf(d, p, f.center), through(f.error), through(f.likely), hn::Zero(d)};
  const auto most_special =
      e.position_error == 0 ? FrequencyKind::kPowerOfTwo : FrequencyKind::kPlain;
  ordinary.Require(
      hn::Le(hn::LoadU(d, e.special + k), hn::Set(d, static_cast<double>(most_special))));
  // The product of two exact doubles is exactly a double-double.
  const auto zero = hn::Zero(d);
  const auto precise =
      hn::And(hn::Eq(y.error, zero), hn::And(hn::Eq(f.drift, zero), hn::Eq(f.center.low, zero)));
  y.drift =
      hn::IfThenZeroElse(precise, hn::Add(hn::Mul(size_p, f.drift), DriftOf(d, y.center.high, 8)));
  const hn::RebindToUnsigned<D> bits;
  const auto more = hn::And(hn::BitCast(bits, y.center.high), hn::Set(bits, e.angle.more_bits));
  const auto is_value =
      hn::And(hn::Eq(y.center.low, zero), hn::RebindMask(d, hn::Eq(more, hn::Zero(bits))));
  const V magnitude = hn::Add(MagnitudeOf(d, y.center.high, y.drift), y.error);
  const V own =
      hn::IfThenZeroElse(hn::And(precise, is_value), HalfUlpOf(d, magnitude, e.angle, ordinary));
  y.error = hn::Add(y.error, own);
  y.likely = hn::Add(y.likely, own);
  return y;
}

template <class D, class V = hn::VFromD<D>>
struct SineCosineVector {
  Double2<V> sine, cosine;
};

template <class D>
HWY_INLINE SineCosineVector<D> Load(D d, const SinesAndCosines& of, size_t k) {
  return {{hn::LoadU(d, of.sine_high + k), hn::LoadU(d, of.sine_low + k)},
          {hn::LoadU(d, of.cosine_high + k), hn::LoadU(d, of.cosine_low + k)}};
}

// The addition theorem, as AngleTable<Counted>, where its error is derived.
template <class D>
HWY_INLINE SineCosineVector<D> CenterAt(D d, const PlainEntries& e, size_t k) {
  const auto a = Load(d, e.coarse, k);
  auto b = Load(d, e.fine, k);
  if (e.backwards) b.sine = Negated(b.sine);
  return {SumOf(ProductOf(d, a.sine, b.cosine), ProductOf(d, a.cosine, b.sine)),
          SumOf(ProductOf(d, a.cosine, b.cosine), Negated(ProductOf(d, a.sine, b.sine)))};
}

// A function of the angle in step trig, as CosSinAround. `slope`: the other function.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> FunctionAt(D d, const StepRange& trig, const CountedVector<V>& angle,
                                       const Double2<V>& center, V slope, Ordinary<D>& ordinary) {
  const V steep = hn::Add(hn::Add(hn::Abs(slope), angle.drift), hn::Set(d, 0x1p-100));
  const auto through = [&](V e) HWY_ATTR {
    const V half_square = hn::Mul(hn::Mul(e, e), hn::Set(d, 0.5));
    return hn::Min(hn::Set(d, 2.0), hn::Add(hn::Mul(steep, e), half_square));
  };
  CountedVector<V> y{center, through(angle.error), through(angle.likely),
                     hn::Add(through(angle.drift), hn::Set(d, 0x1p-100))};
  const V size = hn::Add(MagnitudeOf(d, center.high, y.drift), y.error);
  OrdinaryRange range = trig;
  range.half_ulp = trig.function;
  const V own = HalfUlpOf(d, hn::Min(size, hn::Set(d, 1 - 0x1p-53)), range, ordinary);
  y.error = hn::Add(y.error, own);
  y.likely = hn::Add(y.likely, own);
  return y;
}

// x times the amplitude in step trig, as operator* of Counted; then in the format of step table.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE CountedVector<V> EntryOf(D d, const PlainEntries& e, const CountedVector<V>& x,
                                    Ordinary<D>& ordinary) {
  const Counted& b = e.amplitude;
  const V high = hn::Set(d, b.center().high), low = hn::Set(d, b.center().low);
  const V size_x = MagnitudeOf(d, x.center.high, x.drift), size_b = hn::Set(d, b.Magnitude());
  const auto through = [&](V of_x, double of_b) HWY_ATTR {
    const V own = hn::Set(d, of_b);
    return hn::Add(hn::Add(hn::Mul(size_x, own), hn::Mul(size_b, of_x)), hn::Mul(of_x, own));
  };
  CountedVector<V> y{b.center().low == 0 ? ProductOf(d, high, x.center)
                                         : ProductOf(d, x.center, Double2<V>{high, low}),
                     through(x.error, b.error()), through(x.likely, b.likely()),
                     through(x.drift, b.drift())};
  y.drift = hn::Add(y.drift, DriftOf(d, y.center.high, 8));
  const V size = hn::Add(MagnitudeOf(d, y.center.high, y.drift), y.error);
  V own = HalfUlpOf(d, size, e.trig, ordinary);
  if (b.IsPowerOfTwo()) {  // only underflow or overflow rounds
    const V shrunk = hn::Mul(hn::Abs(y.center.high), hn::Set(d, 1 - 0x1p-50));
    const V least = hn::Sub(hn::Sub(shrunk, y.error), y.drift);
    const V most = hn::Add(hn::Mul(hn::Mul(size_x, size_b), hn::Set(d, 1 + 0x1p-50)), y.error);
    own = hn::IfThenZeroElse(hn::And(hn::Ge(least, hn::Set(d, e.trig.least_normal)),
                                     hn::Lt(most, hn::Set(d, e.trig.most_finite))),
                             own);
  }
  y.error = hn::Add(y.error, own);
  y.likely = hn::Add(y.likely, own);
  if (e.converts) Round(d, e.table, y, ordinary);
  return y;
}

// The entries of one vector, of which `k` is the first.
template <class D>
HWY_INLINE void FillAt(D d, const PlainEntries& e, size_t k) {
  Ordinary<D> ordinary(d);
  auto angle = AngleAt(d, e, k, ordinary);
  // Smaller angles have sines of a small relative error; larger errors saturate.
  ordinary.Require(hn::Gt(hn::Abs(angle.center.high), hn::Set(d, kSmallAngle)));
  if (e.angle_converts) {  // exact angles may be values of the format
    ordinary.Require(hn::Gt(angle.drift, hn::Zero(d)));
    Round(d, e.trig, angle, ordinary);
  }
  ordinary.Require(hn::Lt(angle.error, hn::Set(d, 2.0)));
  const auto center = CenterAt(d, e, k);
  const auto cosine = FunctionAt(d, e.trig, angle, center.cosine, center.sine.high, ordinary);
  const auto sine = FunctionAt(d, e.trig, angle, center.sine, center.cosine.high, ordinary);
  StoreCounted(d, EntryOf(d, e, cosine, ordinary), e.cos, k);
  StoreCounted(d, EntryOf(d, e, sine, ordinary), e.sin, k);
  hn::StoreU(ordinary.marks(), d, e.ordinary + k);
}

void FillEntries(const PlainEntries& e) {
  ForEachVector(e.count, [&](auto d, size_t k) HWY_ATTR { FillAt(d, e, k); });
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(FillEntries);

constexpr int64_t kFine = 64;  // positions between two coarse ones, as in AngleTable

StepRule RuleOf(Step step) {
  const ScopedStep at(step);
  return CurrentRule();
}

// The amplitude in the format of step trig.
Counted ConvertedAmplitude(const Counted& amplitude) {
  const ScopedStep at(Step::kTrig);
  return Converted(amplitude);
}

bool IsPlain(const Counted& x) {
  return x.center().high != 0 && std::isfinite(x.center().high) && std::isfinite(x.drift()) &&
         std::isfinite(x.error()) && !x.saturated();
}

}  // namespace

StepRange::StepRange(const StepRule& rule)
    : OrdinaryRange(rule),
      function(rule.ulps == 0.5 ? half_ulp : rule.ulps * (2 * half_ulp)),
      least_normal(MinNormal(rule.format)),
      most_finite(MaxFinite(rule.format)),
      more_bits((uint64_t{1} << (53 - GridOf(rule.format).precision)) - 1) {}

PlainTable::PlainTable(std::span<const Counted> inv_freq, const Counted& amplitude)
    : inv_freq_(inv_freq),
      amplitude_(amplitude),
      converted_amplitude_(ConvertedAmplitude(amplitude)),
      angle_(RuleOf(Step::kAngle)),
      trig_(RuleOf(Step::kTrig)),
      table_(RuleOf(Step::kTable)),
      plain_(!angle_.flushes && !trig_.flushes && !table_.flushes &&
             trig_.form != Form::kCudaIntrinsic && IsPlain(amplitude)),
      frequency_(inv_freq.size()),
      cos_(inv_freq.size()),
      sin_(inv_freq.size()),
      special_(inv_freq.size()),
      ordinary_(inv_freq.size()) {
  const ScopedStep at(Step::kAngle);
  for (size_t k = 0; k < inv_freq.size(); ++k) {
    one_.emplace_back(inv_freq[k]);
    const Counted f = Converted(inv_freq[k]);
    frequency_.Set(k, f);
    special_[k] = static_cast<double>(!IsPlain(f)        ? FrequencyKind::kSpecial
                                      : f.IsPowerOfTwo() ? FrequencyKind::kPowerOfTwo
                                                         : FrequencyKind::kPlain);
  }
}

SinesAndCosines PlainTable::AtInteger(int64_t position) {
  const size_t n = inv_freq_.size();
  Arrays& values = at_integer_[position];
  if (values.empty()) {
    values.resize(4 * n);
    for (size_t k = 0; k < n; ++k) {
      const DoubleDouble whole(static_cast<double>(position));
      const auto [sine, cosine] = SinCos(whole * inv_freq_[k].center());
      values[k] = sine.high;
      values[n + k] = sine.low;
      values[2 * n + k] = cosine.high;
      values[3 * n + k] = cosine.low;
    }
  }
  const double* const at = values.data();
  return {at, at + n, at + 2 * n, at + 3 * n};
}

bool PlainTable::FillPlain(double position) {
  if (!plain_ || !(std::abs(position) >= kFine && std::abs(position) <= 0x1p53)) return false;
  const auto p = static_cast<int64_t>(position);
  const int64_t rest = p % kFine;
  if (rest == 0) return false;
  double error = 0;
  {
    const ScopedStep at(Step::kAngle);
    error = Converted(Counted(position, DType::kI64)).error();
  }
  const auto converts = [](const StepRule& from, const StepRule& to) {
    return !to.exact && (from.exact || !Contains(to.format, from.format));
  };
  HWY_DYNAMIC_DISPATCH(FillEntries)
  ({.count = inv_freq_.size(),
    .position = position,
    .position_error = error,
    .frequency = frequency_.numbers(),
    .special = special_.data(),
    .coarse = AtInteger(p - rest),
    .fine = AtInteger(std::abs(rest)),
    .backwards = rest < 0,
    .angle = StepRange(angle_),
    .trig = StepRange(trig_),
    .table = StepRange(table_),
    .angle_converts = converts(angle_, trig_),
    .converts = converts(trig_, table_),
    .amplitude = converted_amplitude_,
    .cos = cos_.numbers(),
    .sin = sin_.numbers(),
    .ordinary = ordinary_.data()});
  return true;
}

void PlainTable::operator()(double position, std::span<Counted> cos, std::span<Counted> sin) {
  const bool plain = FillPlain(position);
  const std::optional<DType> format = table_.exact ? FormatOf(trig_) : FormatOf(table_);
  for (size_t k = 0; k < cos.size(); ++k) {
    if (plain && ordinary_[k] != 0) {
      cos[k] = cos_.Get(k, format);
      sin[k] = sin_.Get(k, format);
    } else {
      std::tie(cos[k], sin[k]) = TableEntry(one_[k](position), amplitude_);
    }
  }
}

}  // namespace sextant
#endif
