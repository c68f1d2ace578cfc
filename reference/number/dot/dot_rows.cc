#include "reference/number/dot/dot_rows.h"

#include <algorithm>

#include "reference/number/counted/counted_steps.h"
#include "reference/number/dot/plain_dot.h"

namespace sextant {

DotRows<Counted>::DotRows(std::span<const Counted> numbers, size_t count)
    : numbers_(numbers), count_(count), width_(count == 0 ? 0 : numbers.size() / count) {
  const std::vector<double> plain = PlainNumbers(numbers);
  if (!plain.empty()) SetBlocks(plain);
  for (size_t i = 0; blocks_.empty() && i < count; ++i)
    rows_.emplace_back(numbers.subspan(i * width_, width_));
}

void DotRows<Counted>::SetBlocks(std::span<const double> plain) {
  blocks_.resize((count_ + kPlainRows - 1) / kPlainRows * kPlainRows * width_);
  for (size_t i = 0; i < count_; ++i) {
    float* const block = &blocks_[i / kPlainRows * kPlainRows * width_];
    for (size_t j = 0; j < width_; ++j)
      block[j * kPlainRows + i % kPlainRows] = static_cast<float>(plain[i * width_ + j]);
  }
  const ScopedStep at(Step::kDot);
  const Grid grid = GridOf(CurrentRule().format);
  for (size_t i = 0; i < count_; i += kPlainRows) {
    const size_t rows = std::min(kPlainRows, count_ - i);
    range_of_block_.emplace_back().Include(plain.subspan(i * width_, rows * width_), grid);
  }
}

std::vector<Counted> DotRows<Counted>::Times(const DotOperand<Counted>& a, size_t first,
                                             size_t last) const {
  std::vector<Counted> products(last - first);
  const ScopedStep at(Step::kDot);
  if (blocks_.empty() || a.plain().empty()) {
    for (size_t i = first; i < last; ++i) products[i - first] = Dot(a, (*this)[i]);
    return products;
  }
  const StepRule& rule = CurrentRule();
  const Grid grid = GridOf(rule.format);
  const SumError relative = RelativeErrorOfSum(rule, width_);
  PlainSums sums;
  for (size_t i = first; i < last; ++i) {
    const size_t lane = i % kPlainRows;
    if (i == first || lane == 0)
      AddPlainProducts(a.plain(), &blocks_[(i - lane) * width_], rule.format,
                       ExactOf(a.range(), range_of_block_[i / kPlainRows], width_, grid), sums);
    if (!sums.ordinary[lane]) {
      products[i - first] = Dot(a, (*this)[i]);
      continue;
    }
    const CountedSum sum({sums.high[lane], sums.low[lane]}, sums.rounding[lane], sums.error[lane],
                         sums.size[lane], width_);
    sum.SetTotal(rule, relative, products[i - first]);
  }
  return products;
}

}  // namespace sextant
