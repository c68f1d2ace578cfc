#include "reference/number/dot_rows.h"

#include <algorithm>

#include "reference/number/plain_dot.h"

namespace sextant {

DotRows<Counted>::DotRows(std::span<const Counted> numbers, size_t count)
    : width_(count == 0 ? 0 : numbers.size() / count) {
  for (size_t i = 0; i < count; ++i) rows_.emplace_back(numbers.subspan(i * width_, width_));
  const auto is_plain = [](const DotOperand<Counted>& row) { return row.plain().size() > 0; };
  if (!std::ranges::all_of(rows_, is_plain)) return;
  blocks_.resize((count + kPlainRows - 1) / kPlainRows * kPlainRows * width_);
  for (size_t i = 0; i < count; ++i) {
    double* const block = &blocks_[i / kPlainRows * kPlainRows * width_];
    for (size_t j = 0; j < width_; ++j)
      block[j * kPlainRows + i % kPlainRows] = rows_[i].plain()[j];
  }
}

std::vector<Counted> DotRows<Counted>::Times(const DotOperand<Counted>& a, size_t first,
                                             size_t last) const {
  std::vector<Counted> products;
  products.reserve(last - first);
  const ScopedStep at(Step::kDot);
  const bool plain = !a.plain().empty() && !blocks_.empty();
  PlainSums sums;
  for (size_t i = first; i < last; ++i) {
    const size_t lane = i % kPlainRows;
    if (plain && (i == first || lane == 0)) {
      const double* const block = &blocks_[(i - lane) * width_];
      AddPlainProducts(a.plain(), block, GridOf(CurrentRule().format), sums);
    }
    if (!plain || !sums.ordinary[lane]) {
      products.push_back(Dot(a, rows_[i]));
      continue;
    }
    const CountedSum sum({sums.high[lane], sums.low[lane]}, sums.rounding[lane], sums.error[lane],
                         sums.size[lane], width_);
    products.push_back(sum.Total());
  }
  return products;
}

}  // namespace sextant
