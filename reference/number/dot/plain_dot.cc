#include "reference/number/dot/plain_dot.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/dot/plain_dot.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/counted/counted_numbers.h"
#include "reference/number/double_double/double_double-inl.h"
#include "reference/number/tensor/binade-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kPlainRows>;
using V = hn::Vec<D>;

// The constants of a format; the bits of a product that it does not have.
struct Constants : OrdinaryRange {
  explicit Constants(const Grid& grid)
      : OrdinaryRange(grid), more_bits((uint64_t{1} << (53 - grid.precision)) - 1) {}
  uint64_t more_bits;
};

// The sums of the rows of one vector.
template <bool kExact>
struct Sums {
  V high, low, rounding, error, size, extraordinary;

  Sums() { high = low = rounding = error = size = extraordinary = hn::Zero(D()); }

  // Operations and their order are those of OrdinaryProduct and CountedSum::Add.
  HWY_INLINE void Add(D d, V a, V b, const Constants& format) {
    const V product = hn::Mul(a, b);
    const V magnitude = hn::Mul(hn::Abs(product), hn::Set(d, 1 + 0x1p-50));
    if constexpr (kExact) {
      size = hn::Add(size, magnitude);
    } else {
      const V own = RoundingOf(d, product, magnitude, format);
      error = hn::Add(error, own);
      size = hn::Add(size, hn::Add(magnitude, own));
    }
    const auto s = TwoSum(high, product), c = TwoSum(s.low, low), v = TwoSum(s.high, c.high);
    rounding = hn::Add(rounding, hn::Abs(c.low));
    high = v.high;
    low = v.low;
  }

  // The rounding error of a product, and marks products that are not ordinary.
  HWY_INLINE V RoundingOf(D d, V product, V magnitude, const Constants& format) {
    const hn::RebindToUnsigned<D> bits;
    const V binade = BinadeOf(d, magnitude);
    const auto is_zero = hn::Eq(product, hn::Zero(d));
    const auto inside =
        hn::And(hn::Ge(binade, hn::Set(d, format.least)), hn::Lt(binade, hn::Set(d, format.most)));
    const auto more = hn::And(hn::BitCast(bits, product), hn::Set(bits, format.more_bits));
    const auto is_value = hn::RebindMask(d, hn::Eq(more, hn::Zero(bits)));
    extraordinary =
        hn::Or(extraordinary, hn::IfThenZeroElse(hn::Or(inside, is_zero), hn::Set(d, 1.0)));
    return hn::IfThenZeroElse(is_value, hn::Mul(binade, hn::Set(d, format.half_ulp)));
  }

  void Store(D d, size_t row, PlainSums& sums) const {
    hn::StoreU(high, d, sums.high + row);
    hn::StoreU(low, d, sums.low + row);
    hn::StoreU(rounding, d, sums.rounding + row);
    hn::StoreU(error, d, sums.error + row);
    hn::StoreU(size, d, sums.size + row);
    double marks[kPlainRows];
    hn::StoreU(extraordinary, d, marks);
    for (size_t i = 0; i < hn::Lanes(d); ++i) sums.ordinary[row + i] = marks[i] == 0;
  }
};

// Several vectors at a time: each waits for its own additions.
template <bool kExact, size_t kVectors>
void AddProducts(std::span<const double> a, const float* block, size_t row, const Constants& format,
                 PlainSums& sums) {
  const D d;
  const hn::Rebind<float, D> narrow;
  const size_t lanes = hn::Lanes(d);
  std::array<Sums<kExact>, kVectors> of;
  for (size_t i = 0; i < a.size(); ++i) {
    const V factor = hn::Set(d, a[i]);
    const float* const column = block + i * kPlainRows + row;
    for (size_t v = 0; v < kVectors; ++v)
      of[v].Add(d, factor, hn::PromoteTo(d, hn::LoadU(narrow, column + v * lanes)), format);
  }
  for (size_t v = 0; v < kVectors; ++v) of[v].Store(d, row + v * lanes, sums);
}

template <bool kExact>
void AddAll(std::span<const double> a, const float* block, const Grid& grid, PlainSums& sums) {
  constexpr size_t kMost = HWY_MIN(4, kPlainRows / hn::MaxLanes(D()));
  const Constants format(grid);
  const size_t rows = kMost * hn::Lanes(D());
  for (size_t row = 0; row < kPlainRows; row += rows)
    AddProducts<kExact, kMost>(a, block, row, format, sums);
}

}  // namespace

void AddPlainProducts(std::span<const double> a, const float* block, const Grid& grid, bool exact,
                      PlainSums& sums) {
  exact ? AddAll<true>(a, block, grid, sums) : AddAll<false>(a, block, grid, sums);
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(AddPlainProducts);

}  // namespace

void AddPlainProducts(std::span<const double> a, const float* block, const Grid& grid, bool exact,
                      PlainSums& sums) {
  HWY_DYNAMIC_DISPATCH(AddPlainProducts)(a, block, grid, exact, sums);
}

void PlainRange::Include(std::span<const double> numbers, const Grid& grid) {
  constexpr uint64_t kSignificand = (uint64_t{1} << 52) - 1;
  for (const double x : numbers) {
    if (x == 0) continue;
    least_ = std::min(least_, std::abs(x));
    most_ = std::max(most_, std::abs(x));
    bits_ |= std::bit_cast<uint64_t>(x) & kSignificand;
    if (Precision() >= grid.precision) return;
  }
}

int PlainRange::Precision() const { return bits_ == 0 ? 1 : 53 - std::countr_zero(bits_); }

bool HaveExactProducts(const PlainRange& a, const PlainRange& b, const Grid& grid) {
  if (a.most_ == 0 || b.most_ == 0) return true;
  return a.Precision() + b.Precision() <= grid.precision &&
         a.least_ * b.least_ >= std::ldexp(1.0, grid.min_exponent + grid.precision) &&
         a.most_ * b.most_ < std::ldexp(1.0, grid.max_exponent);
}

}  // namespace sextant
#endif
