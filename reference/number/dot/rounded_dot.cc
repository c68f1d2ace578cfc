#include "reference/number/dot/rounded_dot.h"

#include <array>
#include <bit>
#include <cmath>

#include "reference/base/splitmix64.h"
#include "reference/number/tensor/dtype.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/number/dot/rounded_dot.cc"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include <hwy/highway.h>

#include "reference/number/tensor/binade-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using F = hn::CappedTag<float, kRoundedRows>;
using D = hn::CappedTag<double, kRoundedRows>;
using V = hn::Vec<D>;

template <size_t kVectors>
void AddFloats(std::span<const float> row, const float* block, size_t first, float* sums) {
  const F d;
  const size_t lanes = hn::Lanes(d);
  std::array<hn::Vec<F>, kVectors> of;
  of.fill(hn::Set(d, -0.0f));  // the sum of one term is the term, also if that is -0
  for (size_t i = 0; i < row.size(); ++i) {
    const auto x = hn::Set(d, row[i]);
    const float* const column = block + i * kRoundedRows + first;
    for (size_t v = 0; v < kVectors; ++v)
      of[v] = hn::Add(of[v], hn::Mul(x, hn::LoadU(d, column + v * lanes)));
  }
  for (size_t v = 0; v < kVectors; ++v) hn::StoreU(of[v], d, sums + first + v * lanes);
}

void AddFloatProducts(std::span<const float> row, const float* block, float* sums) {
  constexpr size_t kMost = HWY_MIN(4, kRoundedRows / hn::MaxLanes(F()));
  const size_t rows = kMost * hn::Lanes(F());
  for (size_t first = 0; first < kRoundedRows; first += rows)
    AddFloats<kMost>(row, block, first, sums);
}

// x^2 rounded down to a power of 4, added to `sum`.
HWY_INLINE V AddBinade(D d, V x, V sum) {
  const V binade = BinadeOf(d, x);
  return hn::Add(sum, hn::Mul(binade, binade));
}

// The products are exact in f64, so it does not matter where they are fused with additions.
template <size_t kVectors, bool exact_products>
void AddLong(std::span<const double> row, const double* block, size_t first, LongSums& sums) {
  const D d;
  const size_t lanes = hn::Lanes(d);
  std::array<V, kVectors> sum, squares;
  sum.fill(hn::Zero(d));
  squares.fill(hn::Zero(d));
  for (size_t i = 0; i < row.size(); ++i) {
    const V x = hn::Set(d, row[i]);
    const double* const column = block + i * kRoundedRows + first;
    for (size_t v = 0; v < kVectors; ++v) {
      const V w = hn::LoadU(d, column + v * lanes);
      sum[v] = hn::MulAdd(x, w, sum[v]);
      squares[v] = AddBinade(d, sum[v], squares[v]);
      if (!exact_products) squares[v] = AddBinade(d, hn::Mul(x, w), squares[v]);
    }
  }
  for (size_t v = 0; v < kVectors; ++v) {
    hn::StoreU(sum[v], d, sums.sums + first + v * lanes);
    hn::StoreU(squares[v], d, sums.variances + first + v * lanes);
  }
}

void AddLongProducts(std::span<const double> row, const double* block, bool exact_products,
                     LongSums& sums) {
  constexpr size_t kMost = HWY_MIN(4, kRoundedRows / hn::MaxLanes(D()));
  const size_t rows = kMost * hn::Lanes(D());
  for (size_t first = 0; first < kRoundedRows; first += rows) {
    if (exact_products) {
      AddLong<kMost, true>(row, block, first, sums);
    } else {
      AddLong<kMost, false>(row, block, first, sums);
    }
  }
}

}  // namespace
}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant {
namespace {

HWY_EXPORT(AddFloatProducts);
HWY_EXPORT(AddLongProducts);

}  // namespace

void AddFloatProducts(std::span<const float> row, const float* block, float* sums) {
  HWY_DYNAMIC_DISPATCH(AddFloatProducts)(row, block, sums);
}

// Below the smallest normal number units are those of that number: one of them for each term is
// more than enough.
void AddLongProducts(std::span<const double> row, const double* block, bool exact_products,
                     LongSums& sums) {
  HWY_DYNAMIC_DISPATCH(AddLongProducts)(row, block, exact_products, sums);
  constexpr double kUnit = 0x1p-23, kLeastUnit = 0x1p-149;  // of f32: relative to the binade
  const double least = 2 * static_cast<double>(row.size()) * kLeastUnit * kLeastUnit;
  for (double& variance : sums.variances) variance = (variance * kUnit * kUnit + least) / 3;
}

// The sum of 12 uniform numbers has variance 1.
double WithRandomError(double sum, double variance, uint64_t seed) {
  if (!std::isfinite(variance))
    return RoundTo(DType::kF32, sum);  // an infinity or NaN, or overflow
  SplitMix64 random(Mix(std::bit_cast<uint64_t>(sum) ^ Mix(seed)));
  double deviations = -6;
  for (int i = 0; i < 12; ++i) deviations += static_cast<double>(random.Bits() >> 32) * 0x1p-32;
  return RoundTo(DType::kF32, sum + deviations * std::sqrt(variance));
}

}  // namespace sextant
#endif
