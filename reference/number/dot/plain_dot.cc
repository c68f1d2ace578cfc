#include "reference/number/dot/plain_dot.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/dot/plain_dot.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/counted/counted_numbers.h"
#include "reference/number/double_double/double_double-inl.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/number/tensor/binade-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, kPlainRows>;
using V = hn::Vec<D>;
using M = hn::Mask<D>;

// The constants of a format; the bits of a product that it does not have, and the range in which
// powers of two only shift.
struct Constants : OrdinaryRange {
  explicit Constants(DType format)
      : OrdinaryRange(GridOf(format)),
        min_normal(MinNormal(format)),
        max_finite(MaxFinite(format)),
        more_bits((uint64_t{1} << (53 - GridOf(format).precision)) - 1) {}
  double min_normal, max_finite;
  uint64_t more_bits;
};

HWY_INLINE M IsInside(D d, V binade, const Constants& format) {
  return hn::And(hn::Ge(binade, hn::Set(d, format.least)), hn::Lt(binade, hn::Set(d, format.most)));
}

// The sums of the products of the rows of one vector.
struct VectorSums {
  V high, low, rounding, error, size, extraordinary;

  VectorSums() { high = low = rounding = error = size = extraordinary = hn::Zero(D()); }

  HWY_INLINE void MarkUnless(M ordinary) {
    extraordinary = hn::Or(extraordinary, hn::IfThenZeroElse(ordinary, hn::Set(D(), 1.0)));
  }

  // The rounding error of the product of two exact numbers.
  HWY_INLINE V RoundingOf(D d, V product, V magnitude, const Constants& format) {
    const hn::RebindToUnsigned<D> bits;
    const V binade = BinadeOf(d, magnitude);
    const auto more = hn::And(hn::BitCast(bits, product), hn::Set(bits, format.more_bits));
    const M is_value = hn::RebindMask(d, hn::Eq(more, hn::Zero(bits)));
    MarkUnless(hn::Or(IsInside(d, binade, format), hn::Eq(product, hn::Zero(d))));
    return hn::IfThenZeroElse(is_value, hn::Mul(binade, hn::Set(d, format.half_ulp)));
  }

  void Store(D d, size_t row, PlainSums& sums, const Constants&) const {
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

HWY_INLINE V MagnitudeOf(D d, V x) { return hn::Mul(hn::Abs(x), hn::Set(d, 1 + 0x1p-50)); }

// Operations and their order are those of OrdinaryProduct and CountedSum::Add. `kExact`: the
// products are exact. `kInDouble`: the centre is a sum in double, whose rounding is bounded later.
template <bool kExact, bool kInDouble>
struct SumsOfPlain : VectorSums {
  HWY_INLINE void Add(D d, double x, V w, const Constants& format) {
    const V product = hn::Mul(hn::Set(d, x), w), magnitude = MagnitudeOf(d, product);
    if constexpr (!kExact) {
      const V own = RoundingOf(d, product, magnitude, format);
      error = hn::Add(error, own);
      size = hn::Add(size, hn::Add(magnitude, own));
    } else {
      size = hn::Add(size, magnitude);
    }
    if constexpr (kInDouble) {
      high = hn::Add(high, product);
    } else {
      const auto s = TwoSum(high, product), c = TwoSum(s.low, low), v = TwoSum(s.high, c.high);
      rounding = hn::Add(rounding, hn::Abs(c.low));
      high = v.high;
      low = v.low;
    }
  }
};

struct SumsOfCounted : VectorSums {
  V drift, likely, least, most;  // the binades of the products of AddInexact

  SumsOfCounted() {
    drift = likely = most = hn::Zero(D());
    least = hn::Inf(D());
  }

  HWY_INLINE void Add(D d, const CountedFactor& x, V w, const Constants& format) {
    if (x.kind == CountedFactor::Kind::kExact) return AddExact(d, x.high, w, format);
    const M is_power = hn::Eq(hn::Abs(w), BinadeOf(d, w));  // 0, too
    if (HWY_LIKELY(hn::AllFalse(d, is_power))) return AddInexact(d, x, w, format);
    AddPowers(d, x, w, is_power, format);
    // 0 times an infinite error is a special case.
    if (x.kind == CountedFactor::Kind::kUnbounded) MarkUnless(hn::Gt(hn::Abs(w), hn::Zero(d)));
  }

  void Store(D d, size_t row, CountedSums& sums, const Constants& format) {
    MarkUnless(
        hn::And(hn::Ge(least, hn::Set(d, format.least)), hn::Lt(most, hn::Set(d, format.most))));
    VectorSums::Store(d, row, sums, format);
    hn::StoreU(drift, d, sums.drift + row);
    hn::StoreU(likely, d, sums.likely + row);
  }

 private:
  // A product before it is added.
  struct Product {
    V high, low, drift, magnitude, error, likely;
  };

  // As CountedSum::Add.
  HWY_INLINE void Add(const Product& p) {
    const auto s = TwoSum(high, p.high), t = TwoSum(low, p.low), c = TwoSum(s.low, t.high);
    const auto v = TwoSum(s.high, c.high), w = TwoSum(t.low, v.low);
    rounding = hn::Add(rounding, hn::Add(hn::Abs(c.low), hn::Abs(w.low)));
    const auto sum = FastTwoSum(v.high, w.high);
    high = sum.high;
    low = sum.low;
    drift = hn::Add(drift, p.drift);
    error = hn::Add(error, p.error);
    likely = hn::Add(likely, p.likely);
    size = hn::Add(size, hn::Add(p.magnitude, p.error));
  }

  HWY_INLINE void AddExact(D d, double x, V w, const Constants& format) {
    const V zero = hn::Zero(d), product = hn::Mul(hn::Set(d, x), w);
    const V magnitude = MagnitudeOf(d, product);
    const V own = RoundingOf(d, product, magnitude, format);
    Add({product, zero, zero, magnitude, own, own});
  }

  // A product before the rounding of it, and the factors of its errors.
  struct Unrounded {
    V high, low, drift, magnitude, error, likely, binade, size_w;
  };

  HWY_INLINE Unrounded Multiplied(D d, const CountedFactor& x, V w) {
    const auto p = TwoProduct(d, hn::Set(d, x.high), w);
    const auto c = FastTwoSum(p.high, hn::Add(p.low, hn::Mul(hn::Set(d, x.low), w)));
    const V up = hn::Set(d, 1 + 0x1p-50), size_w = hn::Mul(hn::Abs(w), up),
            size_c = hn::Abs(c.high);
    const V error = hn::Mul(size_w, hn::Set(d, x.error));
    const V own_drift =
        hn::Add(hn::Mul(size_c, hn::Set(d, 8 * kDoubleDoubleUnit)), hn::Set(d, kTinyDrift));
    const V drift = hn::Add(hn::Mul(size_w, hn::Set(d, x.drift)), own_drift);
    const V magnitude = hn::Add(hn::Mul(size_c, up), drift);
    const V likely = hn::Mul(size_w, hn::Set(d, x.likely));
    return {c.high, c.low, drift, magnitude, error, likely, BinadeOf(d, hn::Add(magnitude, error)),
            size_w};
  }

  HWY_INLINE void Add(const Unrounded& p, V drift, V magnitude, V own) {
    Add({p.high, p.low, drift, magnitude, hn::Add(p.error, own), hn::Add(p.likely, own)});
  }

  // As OrdinaryProduct.
  HWY_INLINE void AddInexact(D d, const CountedFactor& x, V w, const Constants& format) {
    const Unrounded p = Multiplied(d, x, w);
    least = hn::Min(least, p.binade);
    most = hn::Max(most, p.binade);
    Add(p, p.drift, p.magnitude, hn::Mul(p.binade, hn::Set(d, format.half_ulp)));
  }

  // As operator* where the weight is 0 or a power of two, and as AddInexact elsewhere.
  HWY_INLINE void AddPowers(D d, const CountedFactor& x, V w, M is_power, const Constants& format) {
    const Unrounded p = Multiplied(d, x, w);
    const M is_zero = hn::Eq(w, hn::Zero(d));
    MarkUnless(hn::Or(IsInside(d, p.binade, format), is_zero));
    const V drift = hn::IfThenZeroElse(is_zero, p.drift);
    const V magnitude = hn::IfThenZeroElse(is_zero, p.magnitude);
    // A power of two only shifts, unless the product may leave the normal numbers.
    const V up = hn::Set(d, 1 + 0x1p-50), down = hn::Set(d, 1 - 0x1p-50);
    const V smallest = hn::Sub(hn::Sub(hn::Mul(hn::Abs(p.high), down), p.error), p.drift);
    const V largest = hn::Add(hn::Mul(hn::Mul(hn::Set(d, x.magnitude), p.size_w), up), p.error);
    const M normal = hn::And(hn::Ge(smallest, hn::Set(d, format.min_normal)),
                             hn::Lt(largest, hn::Set(d, format.max_finite)));
    const M shifts = hn::Or(is_zero, hn::And(is_power, normal));
    const V own = hn::IfThenZeroElse(shifts, hn::Mul(p.binade, hn::Set(d, format.half_ulp)));
    Add(p, drift, magnitude, own);
  }
};

// Several vectors at a time: each waits for its own additions.
template <class Sums, size_t kVectors, class Row, class To>
void AddVectors(const Row& row, const float* block, size_t first, const Constants& format,
                To& sums) {
  const D d;
  const hn::Rebind<float, D> narrow;
  const size_t lanes = hn::Lanes(d);
  std::array<Sums, kVectors> of;
  for (size_t i = 0; i < row.size(); ++i) {
    const float* const column = block + i * kPlainRows + first;
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v)
      of[v].Add(d, row[i], hn::PromoteTo(d, hn::LoadU(narrow, column + v * lanes)), format);
  }
  for (size_t v = 0; v < kVectors; ++v) of[v].Store(d, first + v * lanes, sums, format);
}

template <class Sums, size_t kMostVectors, class Row, class To>
void AddAll(const Row& row, const float* block, DType format, To& sums) {
  constexpr size_t kVectors = HWY_MIN(kMostVectors, kPlainRows / hn::MaxLanes(D()));
  const Constants constants(format);
  const size_t rows = kVectors * hn::Lanes(D());
  for (size_t first = 0; first < kPlainRows; first += rows)
    AddVectors<Sums, kVectors>(row, block, first, constants, sums);
}

void AddPlainProducts(std::span<const double> row, const float* block, DType format, Exact exact,
                      bool in_double, PlainSums& sums) {
  exact == Exact::kNothing ? AddAll<SumsOfPlain<false, false>, 4>(row, block, format, sums)
  : in_double              ? AddAll<SumsOfPlain<true, true>, 4>(row, block, format, sums)
                           : AddAll<SumsOfPlain<true, false>, 4>(row, block, format, sums);
}

void AddCountedProducts(std::span<const CountedFactor> row, const float* block, DType format,
                        CountedSums& sums) {
  AddAll<SumsOfCounted, 2>(row, block, format, sums);
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(AddPlainProducts);
HWY_EXPORT(AddCountedProducts);

}  // namespace

void AddPlainProducts(std::span<const double> row, const float* block, DType format, Exact exact,
                      PlainSums& sums) {
  const bool rounds = this_context.double_centers && exact == Exact::kProducts;
  HWY_DYNAMIC_DISPATCH(AddPlainProducts)
  (row, block, format, exact, rounds || exact == Exact::kSums, sums);
  if (!rounds) return;
  // n products, exact in double, n - 1 additions (Higham 2002, 4.2).
  const double additions = row.empty() ? 0 : static_cast<double>(row.size() - 1);
  for (size_t j = 0; j < kPlainRows; ++j)
    sums.rounding[j] = sums.size[j] * (additions * 0x1p-53 * kBoundUp);
}

void AddCountedProducts(std::span<const CountedFactor> row, const float* block, DType format,
                        CountedSums& sums) {
  HWY_DYNAMIC_DISPATCH(AddCountedProducts)(row, block, format, sums);
}

void PlainRange::Include(std::span<const double> numbers, const Grid& grid) {
  constexpr uint64_t kSignificand = (uint64_t{1} << 52) - 1;
  constexpr size_t kChunk = 64;
  for (size_t i = 0; i < numbers.size(); i += kChunk) {
    double least = kInfinity, most = 0;
    uint64_t bits = 0;
    for (const double x : numbers.subspan(i, std::min(kChunk, numbers.size() - i))) {
      const double magnitude = std::abs(x);
      least = std::min(least, magnitude == 0 ? kInfinity : magnitude);
      most = std::max(most, magnitude);
      bits |= std::bit_cast<uint64_t>(x) & kSignificand;
    }
    least_ = std::min(least_, least);
    most_ = std::max(most_, most);
    bits_ |= bits;
    if (Precision() >= grid.precision) return;
  }
}

int PlainRange::Precision() const { return bits_ == 0 ? 1 : 53 - std::countr_zero(bits_); }

// Precision() bits hold each number: the last of them is least in the least number.
double PlainRange::Unit() const { return std::ldexp(1.0, std::ilogb(least_) - (Precision() - 1)); }

// Each partial sum is a multiple of the product of both units, and at most 2^52 of these, half of
// what a double holds: so the roundings of this bound do not matter.
bool HaveExactSums(const PlainRange& a, const PlainRange& b, size_t count) {
  if (a.most_ == 0 || b.most_ == 0) return true;
  return static_cast<double>(count) * (a.most_ * b.most_) <= a.Unit() * b.Unit() * 0x1p52;
}

Exact ExactOf(const PlainRange& a, const PlainRange& b, size_t count, const Grid& grid) {
  if (!HaveExactProducts(a, b, grid)) return Exact::kNothing;
  return HaveExactSums(a, b, count) ? Exact::kSums : Exact::kProducts;
}

bool HaveExactProducts(const PlainRange& a, const PlainRange& b, const Grid& grid) {
  if (a.most_ == 0 || b.most_ == 0) return true;
  return a.Precision() + b.Precision() <= grid.precision &&
         a.least_ * b.least_ >= std::ldexp(1.0, grid.min_exponent + grid.precision) &&
         a.most_ * b.most_ < std::ldexp(1.0, grid.max_exponent);
}

}  // namespace sextant
#endif
