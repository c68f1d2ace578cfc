// Rounding errors of vectors of numbers, the same bits as in counted.h and dtype.h. Included once
// for each instruction set, after hwy/highway.h.
#if defined(SEXTANT_REFERENCE_ROUNDING_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_REFERENCE_ROUNDING_VECTORS
#undef SEXTANT_REFERENCE_ROUNDING_VECTORS
#else
#define SEXTANT_REFERENCE_ROUNDING_VECTORS
#endif

#include <hwy/highway.h>

#include <limits>

#include "reference/number/recipe/format_units.h"
#include "reference/number/tensor/binade-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;
namespace {

// The constants of a step's rule, and RoundingError for magnitudes of any size (counted.h).
template <class D>
class RoundingOf {
 public:
  using V = hn::VFromD<D>;
  using M = hn::Mask<D>;
  HWY_INLINE RoundingOf(D d, const FormatUnits& of)
      : d_(d),
        least_(hn::Set(d, of.least)),
        half_(hn::Set(d, of.half)),
        overflow_(hn::Set(d, of.overflow)),
        is_f64_(of.is_f64),
        flushes_(of.flushes) {}

  // Of a number of magnitude `most` or less, which may be 0.
  HWY_INLINE V operator()(V most) const {
    const V smallest = hn::Set(d_, std::numeric_limits<double>::denorm_min());
    const V half = hn::Max(hn::Mul(hn::Max(BinadeOf(d_, most), least_), half_), smallest);
    const V own =
        hn::IfThenElse(hn::Lt(most, overflow_), hn::Min(half, most), hn::Set(d_, kInfinity));
    return flushes_ ? hn::Max(own, hn::IfThenElse(hn::Lt(least_, most), least_, most)) : own;
  }
  // Where a finite number is a value of the format: a multiple of its ulp.
  HWY_INLINE M IsValue(V x) const {
    const V ulp = hn::Mul(hn::Max(BinadeOf(d_, x), least_), hn::Add(half_, half_));
    const V magic = hn::Mul(ulp, hn::Set(d_, 0x1.8p52));  // its own ulp is that of the format
    const auto is_multiple = hn::Eq(hn::Sub(hn::Add(x, magic), magic), x);
    const auto in_range = hn::Lt(hn::Abs(x), overflow_);
    return hn::Or(hn::Gt(hn::Set(d_, is_f64_ ? 1.0 : 0.0), hn::Zero(d_)),
                  hn::And(is_multiple, in_range));
  }

 private:
  D d_;
  V least_, half_, overflow_;
  bool is_f64_, flushes_;
};

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
