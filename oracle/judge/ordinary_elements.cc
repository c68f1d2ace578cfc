#include "oracle/judge/ordinary_elements.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "oracle/judge/ordinary_elements.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "oracle/judge/format_vectors-inl.h"
#include "reference/number/counted/counted_vectors-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

using oracle::ComparedRun;
using oracle::How;
using oracle::OrdinaryRatios;
using oracle::OrdinaryVerdict;

// got - (high + low), as ErrorOf: NaN or infinite if a number is not finite.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE V SignedError(D d, const ComparedRun& run, size_t k) {
  const V difference = hn::Sub(hn::LoadU(d, run.got + k), hn::LoadU(d, run.high + k));
  return hn::Sub(difference, hn::LoadU(d, run.low + k));
}

// Where a proven element conforms, is graded at most kWithin, and its bound is finite. For errors
// closer to the bound, see IsWithin.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsOrdinaryGrade(D d, V error, V bound, V likely, hn::Mask<D> is_better) {
  const auto within = hn::Le(error, hn::Mul(bound, hn::Set(d, 1 - 0x1p-50)));
  const auto finite = hn::Lt(bound, hn::Set(d, kInfinity));
  return hn::And(hn::And(within, finite), hn::Or(is_better, hn::Le(error, likely)));
}

// Sets `most` to the largest number of the vector if it is larger, and `at` to its first place.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void SetFirstLargest(D d, V x, size_t k, double& most, size_t& at) {
  if (hn::AllFalse(d, hn::Gt(x, hn::Set(d, most)))) return;
  const V largest = hn::MaxOfLanes(d, x);
  most = hn::GetLane(largest);
  at = k + hn::FindKnownFirstTrue(d, hn::Eq(x, largest));
}

// Whether each element of a vector fails; all others conform.
template <class D>
HWY_INLINE void SetHow(D d, hn::Mask<D> fails, How* how) {
  uint8_t bits[(hn::MaxLanes(D()) + 7) / 8];
  hn::StoreMaskBits(d, fails, bits);
  for (size_t i = 0; i < hn::Lanes(d); ++i)
    how[i] = (bits[i / 8] >> i % 8 & 1) != 0 ? How::kFails : How::kConforms;
}

OrdinaryVerdict JudgeOrdinary(const ComparedRun& run, double worst, double* relative, How* how) {
  OrdinaryVerdict verdict;
  const FormatNumbers numbers(run.dtype);
  ForEachVector(run.count, [&](auto d, size_t k) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const V got = hn::LoadU(d, run.got + k), high = hn::LoadU(d, run.high + k);
    const V bound = hn::LoadU(d, run.permitted + k), likely = hn::LoadU(d, run.likely + k);
    const V from_exact = SignedError(d, run, k), error = hn::Abs(from_exact);
    const V ratio = hn::Div(from_exact, bound);
    const auto exact = hn::Eq(got, hn::LoadU(d, run.value + k));
    const auto faithful = hn::Lt(error, Format(d, numbers).UlpOf(high));
    const auto is_better = hn::Or(exact, faithful);
    const auto known =
        hn::And(hn::Le(hn::LoadU(d, run.radius + k), hn::Zero(d)), hn::Gt(bound, hn::Zero(d)));
    const auto conforms = hn::And(hn::And(known, hn::Le(hn::Abs(ratio), hn::Set(d, worst))),
                                  IsOrdinaryGrade(d, error, bound, likely, is_better));
    // The error has two roundings, of at most 2^-51 of it in all; the product has one (IsWithin).
    const auto fails = hn::And(hn::And(known, hn::Lt(error, hn::Set(d, kInfinity))),
                               hn::Gt(error, hn::Mul(bound, hn::Set(d, 1 + 0x1p-49))));
    hn::StoreU(ratio, d, relative + k);
    if (!hn::AllTrue(d, hn::Or(conforms, fails))) {
      std::fill_n(how + k, hn::Lanes(d), How::kLeft);
      return;
    }
    verdict.judged += hn::Lanes(d);
    SetHow(d, fails, how + k);
    verdict.exact = verdict.exact && hn::AllTrue(d, hn::Or(exact, fails));
    verdict.faithful = verdict.faithful && hn::AllTrue(d, hn::Or(is_better, fails));
    if (hn::AllFalse(d, fails)) return;
    verdict.failed += hn::CountTrue(d, fails);
    SetFirstLargest(d, hn::IfThenElse(fails, hn::Abs(ratio), hn::Set(d, -1.0)), k, verdict.most,
                    verdict.most_at);
  });
  return verdict;
}

// The numbers of JudgeEnclosed (undecided.cc).
template <class V>
struct EnclosedError {
  V least, most, reach;  // error; of the bound
};
template <class D, class V = hn::VFromD<D>>
HWY_INLINE EnclosedError<V> ErrorOfEnclosed(D d, V error, V high, V r, V bound) {
  const V slack =
      hn::Add(hn::Add(hn::Mul(r, hn::Set(d, 0x1p-40)), hn::Mul(error, hn::Set(d, 0x1p-50))),
              hn::Mul(hn::Abs(high), hn::Set(d, 0x1p-72)));
  return {hn::Max(hn::Sub(hn::Sub(error, r), slack), hn::Zero(d)),
          hn::Add(hn::Add(error, r), slack),
          hn::Add(hn::Mul(hn::Set(d, 2.0), r), hn::Mul(bound, hn::Set(d, 0x1p-40)))};
}

// Where high and low, which are at most `r` from the exact value, round as it does.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsRounded(D d, const Format<D>& format, V high, V low, V r) {
  const V around = hn::Add(hn::Mul(hn::Add(r, hn::Abs(low)), hn::Set(d, 1 + 0x1p-40)),
                           hn::Mul(hn::Abs(high), hn::Set(d, 0x1p-51)));
  return format.HaveOneRounding(hn::Sub(high, around), hn::Add(high, around));
}

// Where JudgeEnclosed decides that the grade is at most kWithin: its best and its worst grade are
// both that of the rounded value, or both below an ulp, or both above.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsDecided(D d, const EnclosedError<V>& of, V bound, V likely, V r, V ulp,
                                 hn::Mask<D> exact) {
  const V of_likely = hn::Add(hn::Mul(hn::Set(d, 64.0), r), hn::Mul(likely, hn::Set(d, 0x1p-40)));
  const auto within = hn::And(hn::Ge(of.least, ulp), hn::Le(of.most, hn::Sub(likely, of_likely)));
  return hn::And(hn::Le(of.most, hn::Sub(bound, of.reach)),
                 hn::Or(exact, hn::Or(hn::Lt(of.most, ulp), within)));
}

// Where a / b <= limit without a division, for b >= 0; not for all. The rounding of the product is
// at most 2^-53 of it.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE hn::Mask<D> IsRatioAtMost(D d, V a, V b, double limit) {
  return hn::Le(a, hn::Mul(b, hn::Set(d, limit * (1 - 0x1p-50))));
}

// max(largest, each number of the vector)
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void SetLargest(D d, V x, double& largest) {
  largest = hn::GetLane(hn::MaxOfLanes(d, hn::Max(x, hn::Set(d, largest))));
}

bool HaveSameNumbers(const ComparedRun& run, size_t i, size_t j) {
  return run.got[i] == run.got[j] && run.high[i] == run.high[j] && run.low[i] == run.low[j] &&
         run.radius[i] == run.radius[j] && run.permitted[i] == run.permitted[j] &&
         run.likely[i] == run.likely[j];
}

// Updates the upper bounds by those of the elements from element k on; -1 for no bound.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void SetMost(D d, const ComparedRun& run, V upper, size_t k, OrdinaryRatios& ratios) {
  double bounds[hn::MaxLanes(D())];
  hn::StoreU(upper, d, bounds);
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if (bounds[i] <= ratios.next) continue;
    if (bounds[i] > ratios.most) {
      ratios.next = ratios.most;
      ratios.most = bounds[i];
      ratios.most_at = k + i;
    } else if (!HaveSameNumbers(run, k + i, ratios.most_at)) {
      ratios.next = bounds[i];
    }
  }
}

template <class V>
struct FailingLimits {
  V increased, reduced;  // the bounds of the lower and of the upper bound of the error
};
// Updates the ratios by those of the elements that fail.
template <class D, class V = hn::VFromD<D>>
HWY_INLINE void SetFailing(D d, const EnclosedError<V>& of, const FailingLimits<V>& by,
                           hn::Mask<D> fails, size_t k, OrdinaryRatios& ratios) {
  const auto conforms = hn::Not(fails);
  const V none = hn::Set(d, -1.0);
  const auto is_known = [&](V error, V limit, double known) HWY_ATTR {
    return hn::AllTrue(d, hn::Or(conforms, IsRatioAtMost(d, error, limit, known)));
  };
  if (!is_known(of.least, by.increased, ratios.failing_least))
    SetLargest(d, hn::IfThenElse(fails, hn::Div(of.least, by.increased), none),
               ratios.failing_least);
  if (!is_known(of.most, by.reduced, ratios.failing_most))
    SetFirstLargest(d, hn::IfThenElse(fails, hn::Div(of.most, by.reduced), none), k,
                    ratios.failing_most, ratios.failing_most_at);
}

OrdinaryRatios DecideOrdinary(const ComparedRun& run, char* left) {
  OrdinaryRatios ratios;
  const FormatNumbers numbers(run.dtype);
  ForEachVector(run.count, [&](auto d, size_t k) HWY_ATTR {
    using V = hn::VFromD<decltype(d)>;
    const Format format(d, numbers);
    const V high = hn::LoadU(d, run.high + k), low = hn::LoadU(d, run.low + k);
    const V bound = hn::LoadU(d, run.permitted + k), likely = hn::LoadU(d, run.likely + k);
    const V radius = hn::LoadU(d, run.radius + k), zero = hn::Zero(d), r = hn::Neg(radius);
    const V error = hn::Abs(SignedError(d, run, k)), ulp = format.UlpOf(high);
    const auto exact = hn::Eq(hn::LoadU(d, run.got + k), hn::LoadU(d, run.value + k));
    const auto proven = hn::Eq(radius, zero), enclosed = hn::Lt(radius, zero);
    const auto of = ErrorOfEnclosed(d, error, high, r, bound);
    const auto decided = hn::And(hn::And(enclosed, IsRounded(d, format, high, low, r)),
                                 IsDecided(d, of, bound, likely, r, ulp, exact));
    const auto is_better = hn::Or(exact, hn::Lt(error, ulp));
    const auto ordinary =
        hn::Or(decided, hn::And(proven, IsOrdinaryGrade(d, error, bound, likely, is_better)));
    const V increased = hn::Add(bound, of.reach), reduced = hn::Sub(bound, of.reach);
    const auto fails =
        hn::And(hn::And(enclosed, hn::Gt(of.least, increased)),
                hn::And(hn::Gt(reduced, zero), hn::Lt(error, hn::Set(d, kInfinity))));
    const bool all = hn::AllTrue(d, hn::Or(ordinary, fails));
    std::fill_n(left + k, hn::Lanes(d), !all);
    if (!all) return;
    SetFailing(d, of, {increased, reduced}, fails, k, ratios);
    if (hn::AllTrue(d, fails)) return;
    const auto unbounded = hn::Or(proven, fails);
    const V least = hn::IfThenElseZero(ordinary, hn::IfThenElse(proven, error, of.least));
    const V limit = hn::IfThenElse(proven, bound, increased);
    if (ratios.least < 0 || !hn::AllTrue(d, IsRatioAtMost(d, least, limit, ratios.least)))
      SetLargest(d, hn::IfThenElseZero(hn::Gt(least, zero), hn::Div(least, limit)), ratios.least);
    if (ratios.next < 0 ||
        !hn::AllTrue(d, hn::Or(unbounded, IsRatioAtMost(d, of.most, reduced, ratios.next)))) {
      const V upper = hn::Div(of.most, reduced);
      SetMost(d, run, hn::IfThenElse(unbounded, hn::Set(d, -1.0), upper), k, ratios);
    }
  });
  return ratios;
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(JudgeOrdinary);
HWY_EXPORT(DecideOrdinary);

}  // namespace

namespace oracle {

OrdinaryVerdict JudgeOrdinary(const ComparedRun& run, double worst, double* relative, How* how) {
  const bool may_be_vacuous = std::memchr(run.vacuous, 1, run.count) != nullptr;
  if (run.dtype != DType::kI64 && !may_be_vacuous)
    return HWY_DYNAMIC_DISPATCH(JudgeOrdinary)(run, worst, relative, how);
  std::fill_n(how, run.count, How::kLeft);
  return {};
}

OrdinaryRatios DecideOrdinary(const ComparedRun& run, char* left) {
  // Level 1 is not for f64 (prove.h).
  if (run.dtype != DType::kI64 && run.dtype != DType::kF64)
    return HWY_DYNAMIC_DISPATCH(DecideOrdinary)(run, left);
  std::fill_n(left, run.count, 1);
  return {};
}

}  // namespace oracle
}  // namespace sextant
#endif
