#include "oracle/layer/measured/row_sums.h"

#include <algorithm>
#include <cmath>

namespace sextant::oracle {

void RowSums::Restart() {
  whole_totals_ = std::exchange(totals_, {});
  whole_columns_ = std::exchange(columns_, 0);
}

RowTotals RowSums::TotalOf(TotalsOfRows& totals, size_t columns,
                           const std::pair<size_t, size_t>& population) const {
  RowTotals total;
  for (size_t row = population.first; row < population.second; ++row) {
    RowTotals& of_row = (columns == M_ ? all_columns_ : totals)[row];
    size_t at = (row * M_ + of_row.columns) % x_.size();
    for (; of_row.columns < columns; ++of_row.columns) {
      const long double x = x_[at];
      at = at + 1 == x_.size() ? 0 : at + 1;
      of_row.sum += x;
      of_row.squares += x * x;
    }
    total.sum += of_row.sum;
    total.squares += of_row.squares;
  }
  const auto rows = static_cast<long double>(population.second - population.first);
  return {total.sum / rows, total.squares / rows};
}

Sums RowSums::Of(const Norm& norm, size_t n) const {
  auto [of_mean, of_divisor] = PopulationsOf(norm, n, N_);
  const bool of_all_parts = norm.mean_of_all && norm.parts > 1;
  if (of_all_parts) of_mean = {n / norm.parts * norm.parts, (n / norm.parts + 1) * norm.parts};
  const bool is_whole = norm.mean_of_all && !of_all_parts;
  const auto sum_of = [&](const std::pair<size_t, size_t>& rows) {
    return is_whole ? TotalOf(whole_totals_, whole_columns_, rows).sum
                    : TotalOf(totals_, columns_, rows).sum;
  };
  const long double mean = sum_of(of_mean) / norm.mean_count;
  const bool is_others = norm.shared == Norm::Shared::kDivisor;
  const long double center = is_others ? sum_of(of_divisor) / norm.mean_count : mean;
  RowTotals total = TotalOf(totals_, columns_, of_divisor);
  // sum (x - m)^2 = sum x^2 - 2 m sum x + columns m^2
  if (norm.sums_centered) total.squares += norm.columns * center * center - 2 * center * total.sum;
  Sums sums{norm.subtracts_mean ? static_cast<double>(mean) : 0,
            static_cast<double>(total.squares)};
  if (norm.NeedsLargest() || norm.summed != Norm::Summed::kSquares)
    SetMagnitudes(norm, of_divisor, norm.sums_centered ? static_cast<double>(center) : 0, sums);
  return sums;
}

void RowSums::SetMagnitudes(const Norm& norm, const std::pair<size_t, size_t>& rows, double center,
                            Sums& sums) const {
  double sum = 0;
  for (size_t row = rows.first; row < rows.second; ++row) {
    for (size_t j = 0; j < columns_; ++j) {
      const double size = std::abs(x_[(row * M_ + j) % x_.size()] - center);
      sums.largest = std::max(sums.largest, size);
      sum += size;
    }
  }
  if (norm.summed == Norm::Summed::kMagnitudes)
    sums.sum = sum / static_cast<double>(rows.second - rows.first);
}

}  // namespace sextant::oracle
