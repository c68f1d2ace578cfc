// Dot products with plain numbers: exact values of a format of at most 26 bits, whose products are
// exact in double. The fast paths of DotRows<Counted> and CountedRow, with the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "reference/number/tensor/dtype.h"

namespace sextant {

inline constexpr size_t kPlainRows = 16;   // rows that are multiplied together
inline constexpr int kMostPlainBits = 26;  // of a significand

// What is known of all numbers of some rows.
class PlainRange {
 public:
  // Takes in more numbers. May stop where no products with others are exact in that grid.
  void Include(std::span<const double> numbers, const Grid& grid);
  // True if every product of a number of each is 0 or a value of a format with that grid, and an
  // ordinary one (PlainSums).
  friend bool HaveExactProducts(const PlainRange& a, const PlainRange& b, const Grid& grid);
  // Of numbers with exact products: true if every sum of at most `count` products of a number of
  // each is a double.
  friend bool HaveExactSums(const PlainRange& a, const PlainRange& b, size_t count);

 private:
  int Precision() const;  // significand bits that hold every number
  double Unit() const;    // a power of two of which every number is a multiple

  double least_ = kInfinity, most_ = 0;  // magnitudes of numbers other than 0
  uint64_t bits_ = 0;                    // of all significands
};
bool HaveExactProducts(const PlainRange& a, const PlainRange& b, const Grid& grid);
bool HaveExactSums(const PlainRange& a, const PlainRange& b, size_t count);

// What is exact in sums of products: nothing, HaveExactProducts, or HaveExactSums, too.
enum class Exact { kNothing, kProducts, kSums };
// Of `count` products of numbers of rows with these ranges.
Exact ExactOf(const PlainRange& a, const PlainRange& b, size_t count, const Grid& grid);

// What CountedSum holds after the products of kPlainRows rows with one row, and whether all
// products of a row are ordinary: 0, or well inside of the range of the format.
struct PlainSums {
  double high[kPlainRows], low[kPlainRows];  // the centres
  double rounding[kPlainRows];               // of the centres
  double error[kPlainRows];                  // of the products
  double size[kPlainRows];                   // bounds of the sums of |products|, errors included
  bool ordinary[kPlainRows];
};

// The products of row[i] with the numbers block[i * kPlainRows + j], rounded to `format`, of which
// they are values. The operations and their order are those of Dot for Counted, except for those
// that change nothing because of what is `exact`. At level 1 (EvaluationContext::double_centers)
// the centres of sums of exact products are sums in double.
void AddPlainProducts(std::span<const double> row, const float* block, DType format, Exact exact,
                      PlainSums& sums);

// The members of a number of a row, in the format of step dot, that its products need.
struct CountedFactor {
  enum class Kind { kExact, kInexact, kUnbounded };
  double high, low, drift;
  double magnitude;  // Counted::Magnitude
  double error, likely;
  Kind kind;  // kExact: no error, no drift, low is 0. kUnbounded: the error is infinite, here 0
};

struct CountedSums : PlainSums {
  double drift[kPlainRows];   // of the centres
  double likely[kPlainRows];  // of the products
};
// The same for numbers that have errors.
void AddCountedProducts(std::span<const CountedFactor> row, const float* block, DType format,
                        CountedSums& sums);

}  // namespace sextant
