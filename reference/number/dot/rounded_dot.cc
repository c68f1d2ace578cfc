#include "reference/number/dot/rounded_dot.h"

#include <algorithm>
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

// x^2 rounded down to a power of 4, `times` added to `sum`.
HWY_INLINE V AddBinade(D d, V x, double times, V sum) {
  const V binade = BinadeOf(d, x);
  return hn::MulAdd(hn::Mul(hn::Set(d, times), binade), binade, sum);
}

// The sums of kRows rows of a matrix with kVectors vectors of columns of a block.
template <size_t kRows, size_t kVectors>
struct LongVectors {
  D d;
  V sum[kRows][kVectors], squares[kRows][kVectors];

  HWY_INLINE LongVectors() {
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) sum[r][v] = squares[r][v] = hn::Zero(d);
    }
  }

  // The products are exact in f64, so it does not matter where they are fused with additions.
  template <bool exact_products>
  HWY_INLINE void Add(const double* row, size_t width, const double* column) {
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
      const V x = hn::Set(d, row[r * width]);
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) {
        const V w = hn::LoadU(d, column + v * hn::Lanes(d));
        sum[r][v] = hn::MulAdd(x, w, sum[r][v]);
        if (!exact_products) squares[r][v] = AddBinade(d, hn::Mul(x, w), 1, squares[r][v]);
      }
    }
  }

  HWY_INLINE void AddUnits() {
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v)
        squares[r][v] = AddBinade(d, sum[r][v], kSumsPerUnit, squares[r][v]);
    }
  }

  HWY_INLINE void Store(size_t first, LongSums* sums) const {
#pragma GCC unroll 4
    for (size_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) {
        hn::StoreU(sum[r][v], d, sums[r].sums + first + v * hn::Lanes(d));
        hn::StoreU(squares[r][v], d, sums[r].variances + first + v * hn::Lanes(d));
      }
    }
  }
};

template <size_t kRows, size_t kVectors, bool exact_products>
void AddLong(const double* row, size_t width, const double* block, size_t first, LongSums* sums) {
  LongVectors<kRows, kVectors> of;
  const auto add = [&](size_t begin, size_t end) HWY_ATTR {
    for (size_t i = begin; i < std::min(end, width); ++i)
      of.template Add<exact_products>(row + i, width, block + i * kRoundedRows + first);
  };
  for (size_t i = 0; i < width; i += kSumsPerUnit) {
    constexpr size_t kMiddle = kSumsPerUnit / 2;
    add(i, i + kMiddle + 1);
    if (i + kMiddle < width) of.AddUnits();
    add(i + kMiddle + 1, i + kSumsPerUnit);
  }
  of.Store(first, sums);
}

template <size_t kRows>
void AddRows(const double* row, size_t width, const double* block, bool exact_products,
             LongSums* sums) {
  constexpr size_t kMost = HWY_MIN(4, kRoundedRows / hn::MaxLanes(D()));
  for (size_t first = 0; first < kRoundedRows; first += kMost * hn::Lanes(D())) {
    const auto add = exact_products ? AddLong<kRows, kMost, true> : AddLong<kRows, kMost, false>;
    add(row, width, block, first, sums);
  }
}

void AddLongProducts(const double* rows, size_t width, const double* block, bool exact_products,
                     std::span<LongSums> sums) {
  constexpr size_t kAtOnce = 4;  // their sums do not wait for each other
  size_t n = 0;
  for (; n + kAtOnce <= sums.size(); n += kAtOnce)
    AddRows<kAtOnce>(rows + n * width, width, block, exact_products, &sums[n]);
  for (; n < sums.size(); ++n) AddRows<1>(rows + n * width, width, block, exact_products, &sums[n]);
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
void AddLongProducts(std::span<const double> rows, const double* block, bool exact_products,
                     std::span<LongSums> sums) {
  const size_t width = rows.size() / sums.size();
  HWY_DYNAMIC_DISPATCH(AddLongProducts)(rows.data(), width, block, exact_products, sums);
  constexpr double kUnit = 0x1p-23, kLeastUnit = 0x1p-149;  // of f32: relative to the binade
  const double least = 2 * static_cast<double>(width) * kLeastUnit * kLeastUnit;
  for (LongSums& of_row : sums)
    for (double& variance : of_row.variances) variance = (variance * kUnit * kUnit + least) / 3;
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
