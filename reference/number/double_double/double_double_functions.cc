#include "reference/number/double_double/double_double_functions.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/double_double/double_double_functions.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/double_double/double_double_functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {

using One = hn::CappedTag<double, 1>;

DoubleDouble FirstLane(const Double2<hn::VFromD<One>>& x) {
  return {hn::GetLane(x.high), hn::GetLane(x.low)};
}

DoubleDouble ExpOfOne(const DoubleDouble& a) { return FirstLane(Exp(One(), SetAll(One(), a))); }
DoubleDouble TanhOfOne(const DoubleDouble& a) { return FirstLane(Tanh(One(), SetAll(One(), a))); }
DoubleDouble SigmoidOfOne(const DoubleDouble& a) {
  return FirstLane(Sigmoid(One(), SetAll(One(), a)));
}
DoubleDouble ErfOfOne(const DoubleDouble& a) {
  const auto x = SetAll(One(), a);
  return FirstLane(Erf(One(), x, ErfOrErfc(One(), AbsOf(One(), x))));
}
DoubleDouble ErfcOfOne(const DoubleDouble& a) {
  const auto x = SetAll(One(), a);
  return FirstLane(Erfc(One(), x, ErfOrErfc(One(), AbsOf(One(), x))));
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(ExpOfOne);
HWY_EXPORT(TanhOfOne);
HWY_EXPORT(SigmoidOfOne);
HWY_EXPORT(ErfOfOne);
HWY_EXPORT(ErfcOfOne);

}  // namespace

DoubleDouble exp(const DoubleDouble& a) { return HWY_DYNAMIC_DISPATCH(ExpOfOne)(a); }
DoubleDouble tanh(const DoubleDouble& a) { return HWY_DYNAMIC_DISPATCH(TanhOfOne)(a); }
DoubleDouble sigmoid(const DoubleDouble& a) { return HWY_DYNAMIC_DISPATCH(SigmoidOfOne)(a); }
DoubleDouble erf(const DoubleDouble& a) { return HWY_DYNAMIC_DISPATCH(ErfOfOne)(a); }
DoubleDouble erfc(const DoubleDouble& a) { return HWY_DYNAMIC_DISPATCH(ErfcOfOne)(a); }

}  // namespace sextant
#endif
