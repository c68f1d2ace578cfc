#include "reference/number/dot/counted_dot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "reference/number/counted/counted_numbers.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/rounding_units.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/dot/counted_dot.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/double_double/double_double-inl.h"
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

// A product before it is added.
struct Product {
  V high, low, drift, magnitude, error, likely;
};

// The sums of the products in one vector.
struct Sums {
  V high, low, drift, rounding, error, likely, size, extraordinary;

  Sums() { high = low = drift = rounding = error = likely = size = extraordinary = hn::Zero(D()); }

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

  HWY_INLINE void MarkUnless(M ordinary) {
    extraordinary = hn::Or(extraordinary, hn::IfThenZeroElse(ordinary, hn::Set(D(), 1.0)));
  }

  void Store(D d, size_t row, CountedSums& sums) const {
    hn::StoreU(high, d, sums.high + row);
    hn::StoreU(low, d, sums.low + row);
    hn::StoreU(drift, d, sums.drift + row);
    hn::StoreU(rounding, d, sums.rounding + row);
    hn::StoreU(error, d, sums.error + row);
    hn::StoreU(likely, d, sums.likely + row);
    hn::StoreU(size, d, sums.size + row);
    double marks[kPlainRows];
    hn::StoreU(extraordinary, d, marks);
    for (size_t i = 0; i < hn::Lanes(d); ++i) sums.ordinary[row + i] = marks[i] == 0;
  }
};

HWY_INLINE M IsInside(D d, V binade, const Constants& format) {
  return hn::And(hn::Ge(binade, hn::Set(d, format.least)), hn::Lt(binade, hn::Set(d, format.most)));
}

// The product of two exact numbers: as in plain_dot.cc.
HWY_INLINE void AddExact(D d, double x, V w, const Constants& format, Sums& sums) {
  const V zero = hn::Zero(d), product = hn::Mul(hn::Set(d, x), w);
  const V magnitude = hn::Mul(hn::Abs(product), hn::Set(d, 1 + 0x1p-50));
  const V binade = BinadeOf(d, magnitude);
  const hn::RebindToUnsigned<D> bits;
  const auto more = hn::And(hn::BitCast(bits, product), hn::Set(bits, format.more_bits));
  const M exact = hn::RebindMask(d, hn::Eq(more, hn::Zero(bits)));
  const V own = hn::IfThenZeroElse(exact, hn::Mul(binade, hn::Set(d, format.half_ulp)));
  sums.MarkUnless(hn::Or(IsInside(d, binade, format), hn::Eq(product, zero)));
  sums.Add({product, zero, zero, magnitude, own, own});
}

// As OrdinaryProduct, and as operator* for weights that are 0 or a power of two.
HWY_INLINE void AddInexact(D d, const CountedFactor& x, V w, const Constants& format, Sums& sums) {
  const V up = hn::Set(d, 1 + 0x1p-50), zero = hn::Zero(d);
  const auto p = TwoProduct(d, hn::Set(d, x.high), w);
  const auto c = FastTwoSum(p.high, hn::Add(p.low, hn::Mul(hn::Set(d, x.low), w)));
  const M is_zero = hn::Eq(w, zero);
  const V size_w = hn::Mul(hn::Abs(w), up), size_c = hn::Abs(c.high);
  const V error = hn::Mul(size_w, hn::Set(d, x.error));
  const V own_drift =
      hn::Add(hn::Mul(size_c, hn::Set(d, 8 * kDoubleDoubleUnit)), hn::Set(d, kTinyDrift));
  const V drift =
      hn::IfThenZeroElse(is_zero, hn::Add(hn::Mul(size_w, hn::Set(d, x.drift)), own_drift));
  const V magnitude = hn::Add(hn::Mul(size_c, up), drift);
  const V binade = BinadeOf(d, hn::Add(magnitude, error));
  sums.MarkUnless(hn::Or(IsInside(d, binade, format), is_zero));
  // A power of two only shifts, unless the product may leave the normal numbers.
  const V least = hn::Sub(hn::Sub(hn::Mul(size_c, hn::Set(d, 1 - 0x1p-50)), error), drift);
  const V most = hn::Add(hn::Mul(hn::Mul(hn::Set(d, x.magnitude), size_w), up), error);
  const M normal = hn::And(hn::Ge(least, hn::Set(d, format.min_normal)),
                           hn::Lt(most, hn::Set(d, format.max_finite)));
  const M is_power = hn::Eq(hn::Abs(w), BinadeOf(d, w));  // 0, too
  const M shifts = hn::Or(is_zero, hn::And(is_power, normal));
  const V own = hn::IfThenZeroElse(shifts, hn::Mul(binade, hn::Set(d, format.half_ulp)));
  sums.Add({c.high, c.low, drift, magnitude, hn::Add(error, own),
            hn::Add(hn::Mul(size_w, hn::Set(d, x.likely)), own)});
}

template <size_t kVectors>
void AddProducts(std::span<const CountedFactor> row, const float* block, size_t first,
                 const Constants& format, CountedSums& sums) {
  const D d;
  const hn::Rebind<float, D> narrow;
  const size_t lanes = hn::Lanes(d);
  std::array<Sums, kVectors> of;
  for (size_t i = 0; i < row.size(); ++i) {
    const CountedFactor& x = row[i];
    const float* const column = block + i * kPlainRows + first;
    for (size_t v = 0; v < kVectors; ++v) {
      const V w = hn::PromoteTo(d, hn::LoadU(narrow, column + v * lanes));
      if (x.kind == CountedFactor::Kind::kExact) {
        AddExact(d, x.high, w, format, of[v]);
        continue;
      }
      AddInexact(d, x, w, format, of[v]);
      // 0 times an infinite error is a special case.
      if (x.kind == CountedFactor::Kind::kUnbounded)
        of[v].MarkUnless(hn::Gt(hn::Abs(w), hn::Zero(d)));
    }
  }
  for (size_t v = 0; v < kVectors; ++v) of[v].Store(d, first + v * lanes, sums);
}

void AddCountedProducts(std::span<const CountedFactor> row, const float* block, DType format,
                        CountedSums& sums) {
  constexpr size_t kMost = HWY_MIN(2, kPlainRows / hn::MaxLanes(D()));
  const Constants constants(format);
  const size_t rows = kMost * hn::Lanes(D());
  for (size_t first = 0; first < kPlainRows; first += rows)
    AddProducts<kMost>(row, block, first, constants, sums);
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(AddCountedProducts);

// Centres in this range have no products that underflow in the low half, for any plain number.
constexpr double kLeastCentre = 0x1p-700, kMostCentre = 0x1p700;

}  // namespace

void AddCountedProducts(std::span<const CountedFactor> row, const float* block, DType format,
                        CountedSums& sums) {
  HWY_DYNAMIC_DISPATCH(AddCountedProducts)(row, block, format, sums);
}

CountedRow::CountedRow(std::span<const Counted> numbers) : operand_(numbers) {
  if (operand_.plain().empty()) SetFactors(numbers);
}

void CountedRow::SetFactors(std::span<const Counted> numbers) {
  using Kind = CountedFactor::Kind;
  const ScopedStep at(Step::kDot);
  factors_.reserve(numbers.size());
  for (const Counted& number : numbers) {
    const Counted x = Converted(number);
    const double size = std::abs(x.center().high);
    const bool exact = x.IsExact(), unbounded = std::isinf(x.error());
    const bool in_range = size == 0 || (size > kLeastCentre && size < kMostCentre);
    if (!in_range || !std::isfinite(x.drift()) || (exact && x.center().low != 0)) {
      factors_.clear();
      return;
    }
    if (x.saturated()) saturated_.push_back(factors_.size());
    unbounded_ = unbounded_ || unbounded;
    factors_.push_back({.high = x.center().high,
                        .low = x.center().low,
                        .drift = x.drift(),
                        .magnitude = x.Magnitude(),
                        .error = unbounded ? 0 : x.error(),
                        .likely = unbounded ? 0 : x.likely(),
                        .kind = exact       ? Kind::kExact
                                : unbounded ? Kind::kUnbounded
                                            : Kind::kInexact});
  }
}

CountedRow::Products CountedRow::PlainTimes(std::span<const float> block) const {
  PlainSums sums;
  AddPlainProducts(operand_.plain(), block.data(), GridOf(CurrentRule().format), false, sums);
  Products products(kPlainRows);
  for (size_t j = 0; j < kPlainRows; ++j) {
    if (!sums.ordinary[j]) continue;
    products[j] = CountedSum({sums.high[j], sums.low[j]}, sums.rounding[j], sums.error[j],
                             sums.size[j], operand_.plain().size())
                      .Total();
  }
  return products;
}

CountedRow::Products CountedRow::Times(std::span<const float> block) const {
  const ScopedStep at(Step::kDot);
  if (!operand_.plain().empty()) return PlainTimes(block);
  Products products(kPlainRows);
  if (factors_.empty()) return products;
  CountedSums sums;
  AddCountedProducts(factors_, block.data(), CurrentRule().format, sums);
  for (size_t j = 0; j < kPlainRows; ++j) {
    if (sums.ordinary[j]) products[j] = Product(block, sums, j);
  }
  return products;
}

// An infinite error makes all sums infinite, the likely one, too: a rounding of an infinite number
// is infinite.
Counted CountedRow::Product(std::span<const float> block, const CountedSums& sums, size_t j) const {
  const auto bounded = [this](double x) { return unbounded_ ? kInfinity : x; };
  const Counted terms =
      Counted::Of({sums.high[j], sums.low[j]}, sums.drift[j], std::nullopt, IsSaturated(block, j))
          .WithError({bounded(sums.error[j]), bounded(sums.likely[j])});
  return CountedSum(terms, sums.rounding[j], bounded(sums.size[j]), factors_.size()).Total();
}

bool CountedRow::IsSaturated(std::span<const float> block, size_t j) const {
  return std::ranges::any_of(saturated_, [&](size_t i) { return block[i * kPlainRows + j] != 0; });
}

}  // namespace sextant
#endif
