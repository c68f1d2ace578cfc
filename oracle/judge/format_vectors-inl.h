// The formats of tensors in vectors of doubles. Included once for each instruction set, after
// hwy/highway.h. Private to this folder.
#if defined(SEXTANT_ORACLE_FORMAT_VECTORS) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_ORACLE_FORMAT_VECTORS
#undef SEXTANT_ORACLE_FORMAT_VECTORS
#else
#define SEXTANT_ORACLE_FORMAT_VECTORS
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "reference/number/tensor/binade-inl.h"
#include "reference/number/tensor/dtype.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

// The parameters of a tensor's format.
struct FormatNumbers {
  explicit FormatNumbers(DType type)
      : least(PowerOfTwo(GridOf(type).min_exponent)),
        most(PowerOfTwo(GridOf(type).max_exponent)),
        unit(PowerOfTwo(1 - GridOf(type).precision)),
        dropped(53 - GridOf(type).precision) {}
  double least, most, unit;
  int dropped;
};

// UlpOf and RoundTo (dtype.h).
template <class D>
class Format {
 public:
  using V = hn::VFromD<D>;
  HWY_INLINE Format(D d, const FormatNumbers& of)
      : d_(d),
        least_(hn::Set(d, of.least)),
        most_(hn::Set(d, of.most)),
        unit_(hn::Set(d, of.unit)),
        dropped_(of.dropped) {}

  HWY_INLINE V UlpOf(V x) const { return hn::Mul(hn::Max(BinadeOf(d_, x), least_), unit_); }
  // Whether both are normal numbers of one binade and have the same rounding.
  HWY_INLINE hn::Mask<D> HaveOneRounding(V a, V b) const {
    const V binade = BinadeOf(d_, a);
    const auto normal = hn::And(hn::Ge(binade, least_), hn::Lt(binade, most_));
    const auto same = hn::Eq(RoundedNormal(a), RoundedNormal(b));
    return hn::And(hn::And(normal, hn::Eq(binade, BinadeOf(d_, b))), same);
  }

 private:
  // The significand as an integer: half a unit is added, less 1 if that keeps a tie even.
  HWY_INLINE V RoundedNormal(V x) const {
    const hn::RebindToUnsigned<D> bits;
    const auto from = hn::BitCast(bits, x);
    const auto odd = hn::And(hn::ShiftRightSame(from, dropped_), hn::Set(bits, uint64_t{1}));
    const auto half = hn::Set(bits, (uint64_t{1} << (dropped_ - 1)) - 1);
    const auto kept = hn::Set(bits, ~uint64_t{0} << dropped_);
    return hn::BitCast(d_, hn::And(hn::Add(from, hn::Add(half, odd)), kept));
  }

  D d_;
  V least_, most_, unit_;
  int dropped_;
};

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // SEXTANT_ORACLE_FORMAT_VECTORS
