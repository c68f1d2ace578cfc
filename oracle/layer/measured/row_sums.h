// Sums over the first columns of rows, for measured norms.
#pragma once

#include <utility>
#include <vector>

#include "oracle/layer/measured/norm_formula.h"

namespace sextant::oracle {

// Of one row.
struct Sums {
  double mean = 0;  // that is subtracted
  double sum = 0;   // S per row of the population
};

class RowSums {
 public:
  // x [N,M] must outlive this object. No column is added yet.
  RowSums(const std::vector<double>& x, size_t N, size_t M) : x_(x), M_(M), totals_(N) {}
  void AddColumn() { ++columns_; }
  // Begins with the first column again, and keeps the sums of all columns for means.
  void Restart();
  // Of the columns added so far.
  Sums Of(const Norm& norm, size_t n) const;

 private:
  // Of x and of x^2 of a row. The extended precision leaves room for cancellation. Few rows of a
  // large tensor are asked for: a row is summed when it is.
  struct Totals {
    long double sum = 0, squares = 0;
    size_t columns = 0;  // that are summed
  };
  // Of the first columns, per row of a population.
  Totals TotalOf(std::vector<Totals>& totals, size_t columns,
                 const std::pair<size_t, size_t>& population) const;

  const std::vector<double>& x_;
  size_t M_, columns_ = 0, whole_columns_ = 0;
  mutable std::vector<Totals> totals_, whole_totals_;
};

}  // namespace sextant::oracle
