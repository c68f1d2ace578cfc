#include "reference/number/double_double/exponential_rows.h"

#include <algorithm>
#include <cmath>

#include "reference/number/double_double/elementary.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/double_double/exponential_rows.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/double_double/exponential-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

constexpr double kMost = 600;

// Sets y to of(d, x) by vectors; the last is padded with 0. Numbers beyond kMost are clamped.
template <class Function>
void ForEachVector(std::span<const double> x, double* y, Function of) {
  using D = hn::CappedTag<double, 8>;
  const D d;
  const size_t lanes = hn::Lanes(d);
  const auto apply = [&](const double* from, double* to) {
    const auto v = hn::LoadU(d, from);
    hn::StoreU(of(d, hn::Min(hn::Set(d, kMost), hn::Max(hn::Set(d, -kMost), v))), d, to);
  };
  size_t i = 0;
  for (; i + lanes <= x.size(); i += lanes) apply(x.data() + i, y + i);
  if (i == x.size()) return;
  double last[8] = {}, result[8];
  std::copy(x.begin() + static_cast<std::ptrdiff_t>(i), x.end(), last);
  apply(last, result);
  std::copy_n(result, x.size() - i, y + i);
}

}  // namespace

void ExpOfEach(std::span<const double> x, double* y) {
  ForEachVector(x, y, [](auto d, auto v) { return Exponential(d, v); });
}

// For |x| > 0.35, see Expm1Of (elementary.cc).
void Expm1OfEach(std::span<const double> x, double* y) {
  ForEachVector(x, y, [](auto d, auto v) {
    const auto is_near = hn::Le(hn::Abs(v), hn::Set(d, 0.35));
    const auto near = Expm1NearZero(d, v);
    if (hn::AllTrue(d, is_near)) return near;
    return hn::IfThenElse(is_near, near, hn::Sub(Exponential(d, v), hn::Set(d, 1.0)));
  });
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(ExpOfEach);
HWY_EXPORT(Expm1OfEach);

// Numbers out of the range of the vectors, and NaN, one by one.
void SetBeyond(std::span<const double> x, std::span<double> y, double (*function)(double)) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(std::abs(x[i]) <= 600)) y[i] = function(x[i]);
  }
}

}  // namespace

void ExpOfEach(std::span<const double> x, std::span<double> y) {
  HWY_DYNAMIC_DISPATCH(ExpOfEach)(x, y.data());
  SetBeyond(x, y, ExpOf);
}

void Expm1OfEach(std::span<const double> x, std::span<double> y) {
  HWY_DYNAMIC_DISPATCH(Expm1OfEach)(x, y.data());
  SetBeyond(x, y, Expm1Of);
}

}  // namespace sextant
#endif
