// Dot products of a row with many rows in f32, as Rounded computes them: the fast paths of
// MultiplyByWeights.
//
// Rounded to nearest, terms added in any order (float_sums.h): the same bits as Dot.
//
// Stochastically rounded: a short dot product is computed by Dot. A long one, of kLongSum terms or
// more, gets one random error instead of one for each product and each sum. Let s_k be the sum of
// the first k terms. If s_k is not a number of the format, it is rounded up or down, both with
// probability 1/2. If its distance from the next lower number is t units in the last place u_k, the
// mean square of the error is (t^2 + (1 - t)^2) / 2 u_k^2: between 1/4 and 1/2 of u_k^2, and 1/3 of
// it for t uniform in [0, 1). The coins are independent, and each error is passed on unchanged by
// the later additions. So the error of the whole sum is a sum of many independent errors, of
// variance
//   V = 1/3 sum_k u_k^2,
// to which products that need more bits than f32 add as much for their own units in the last place.
// Neighbouring sums have similar units, so one sum stands for five: not for four, because terms may
// have a period that is a power of two.
// The error is drawn from a bell curve of variance V. To first order in the errors, the exact s_k
// have the units of the rounded ones. Additions that need no rounding are charged, too, so V is too
// large where terms have no bits below the last place of the sum. That is usual for products of
// 16-bit numbers; their sums are then stored in 16 bits, whose rounding errors are far larger. One
// seed gives the same error to equal sums (stochastic_rounding.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sextant {

inline constexpr size_t kRoundedRows = 16;  // rows that are multiplied together
inline constexpr size_t kLongSum = 512;

// sums[j] = the products of row[i] with block[i * kRoundedRows + j], each product and each sum
// rounded to f32, added forwards.
void AddFloatProducts(std::span<const float> row, const float* block, float* sums);

// The same sums in f64, without rounding, and the variances of their errors in f32 as derived
// above, for sums.size() > 0 rows of one width. exact_products: no product needs more than 24 bits.
inline constexpr size_t kSumsPerUnit = 5;
struct LongSums {
  double sums[kRoundedRows], variances[kRoundedRows];
};
void AddLongProducts(std::span<const double> rows, const double* block, bool exact_products,
                     std::span<LongSums> sums);

// The sum with its random error, rounded to f32.
double WithRandomError(double sum, double variance, uint64_t seed);

}  // namespace sextant
