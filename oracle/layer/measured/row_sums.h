// Sums over the first columns of rows, for measured norms. Columns beyond a row are those of the
// next one, and beyond the last row those of the first.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oracle/layer/measured/norm_formula.h"

namespace sextant::oracle {

// Of one row.
struct Sums {
  double mean = 0;     // that is subtracted
  double sum = 0;      // S per row of the population, or the sum of |x|
  double largest = 0;  // |x|, if the norm needs it
};

// Sums of x and of x^2 over the first columns of a row. The extended precision leaves room for
// cancellation.
struct RowTotals {
  long double sum = 0, squares = 0;
  size_t columns = 0;  // that are summed
};
// Few rows of a large tensor are asked for: a row is summed when it is.
using TotalsOfRows = std::unordered_map<size_t, RowTotals>;
// The totals of all columns, by the width of a row. They are the same in all fits to one x.
using WholeTotals = std::map<size_t, TotalsOfRows>;

class RowSums {
 public:
  // x [N,M] and `whole`, the totals of its rows, must outlive this object. No column is added yet.
  RowSums(const std::vector<double>& x, size_t N, size_t M, WholeTotals& whole)
      : x_(x), N_(N), M_(M), all_columns_(whole[M]) {}
  void AddColumn() { ++columns_; }
  // Begins with the first column again, and keeps the sums of all columns for means.
  void Restart();
  // Of the columns added so far.
  Sums Of(const Norm& norm, size_t n) const;

 private:
  // Sets the largest |x - center| of the population, and their sum if the norm has that.
  void SetMagnitudes(const Norm& norm, const std::pair<size_t, size_t>& rows, double center,
                     Sums& sums) const;
  // Of the first columns, per row of a population.
  RowTotals TotalOf(TotalsOfRows& totals, size_t columns,
                    const std::pair<size_t, size_t>& population) const;

  const std::vector<double>& x_;
  size_t N_, M_, columns_ = 0, whole_columns_ = 0;
  TotalsOfRows& all_columns_;
  mutable TotalsOfRows totals_, whole_totals_;
};

}  // namespace sextant::oracle
