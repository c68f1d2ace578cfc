#include "oracle/layer/measured/row_sums.h"

namespace sextant::oracle {

void RowSums::AddColumn() {
  for (size_t n = 0; n < totals_.size(); ++n) {
    const long double x = x_[n * M_ + columns_];
    totals_[n].sum += x;
    totals_[n].squares += x * x;
  }
  ++columns_;
}

void RowSums::Restart() {
  whole_totals_ = std::exchange(totals_, std::vector<Totals>(totals_.size()));
  columns_ = 0;
}

RowSums::Totals RowSums::TotalOf(const std::vector<Totals>& totals,
                                 const std::pair<size_t, size_t>& population) {
  Totals total;
  for (size_t row = population.first; row < population.second; ++row) {
    total.sum += totals[row].sum;
    total.squares += totals[row].squares;
  }
  const auto rows = static_cast<long double>(population.second - population.first);
  return {total.sum / rows, total.squares / rows};
}

Sums RowSums::Of(const Norm& norm, size_t n) const {
  auto [of_mean, of_divisor] = PopulationsOf(norm, n, totals_.size());
  const bool of_all_parts = norm.mean_of_all && norm.parts > 1;
  if (of_all_parts) of_mean = {n / norm.parts * norm.parts, (n / norm.parts + 1) * norm.parts};
  const auto& totals = norm.mean_of_all && !of_all_parts ? whole_totals_ : totals_;
  const long double mean = TotalOf(totals, of_mean).sum / norm.mean_count;
  const bool is_others = norm.shared == Norm::Shared::kDivisor;
  const long double center = is_others ? TotalOf(totals, of_divisor).sum / norm.mean_count : mean;
  Totals total = TotalOf(totals_, of_divisor);
  // sum (x - m)^2 = sum x^2 - 2 m sum x + columns m^2
  if (norm.sums_centered) total.squares += norm.columns * center * center - 2 * center * total.sum;
  return {norm.subtracts_mean ? static_cast<double>(mean) : 0, static_cast<double>(total.squares)};
}

}  // namespace sextant::oracle
