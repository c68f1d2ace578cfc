// Dot products of plain numbers: exact values of a format of at most 26 bits, whose products are
// exact in double. The fast path of DotRows<Counted>, with the same bits.
#pragma once

#include <cstddef>
#include <span>

#include "reference/number/dtype.h"

namespace sextant {

inline constexpr size_t kPlainRows = 16;   // rows that are multiplied together
inline constexpr int kMostPlainBits = 26;  // of a significand

// What CountedSum holds after the products of kPlainRows rows with one row, and whether all
// products of a row are ordinary: 0, or well inside of the range of the format.
struct PlainSums {
  double high[kPlainRows], low[kPlainRows];  // the centres
  double rounding[kPlainRows];               // of the centres
  double error[kPlainRows];                  // of the products
  double size[kPlainRows];                   // bounds of the sums of |products|, errors included
  bool ordinary[kPlainRows];
};

// The products with a[i] of column i of the rows, block[i * kPlainRows + row], rounded to a format
// with that grid.
void AddPlainProducts(std::span<const double> a, const double* block, const Grid& grid,
                      PlainSums& sums);

}  // namespace sextant
