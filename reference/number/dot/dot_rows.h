// Dot products of many rows with other rows, for every number type: step dot.
#pragma once

#include <span>
#include <vector>

#include "reference/number/dot/dot.h"

namespace sextant {

template <class Real>
class DotRows {
 public:
  // `count` rows of equal width, one after the other. The numbers must outlive this object.
  DotRows(std::span<const Real> numbers, size_t count) {
    for (size_t i = 0; i < count; ++i)
      rows_.emplace_back(numbers.subspan(i * (numbers.size() / count), numbers.size() / count));
  }
  size_t size() const { return rows_.size(); }
  const DotOperand<Real>& operator[](size_t i) const { return rows_[i]; }
  // The products of `a` and the rows first .. last-1.
  std::vector<Real> Times(const DotOperand<Real>& a, size_t first, size_t last) const {
    std::vector<Real> products;
    products.reserve(last - first);
    for (size_t i = first; i < last; ++i) products.push_back(Dot(a, rows_[i]));
    return products;
  }

 private:
  std::vector<DotOperand<Real>> rows_;
};

// Plain rows (plain_dot.h) are multiplied kPlainRows at a time.
template <>
class DotRows<Counted> {
 public:
  DotRows(std::span<const Counted> numbers, size_t count);
  size_t size() const { return count_; }
  DotOperand<Counted> operator[](size_t i) const {
    return blocks_.empty() ? rows_[i] : DotOperand<Counted>(numbers_.subspan(i * width_, width_));
  }
  std::vector<Counted> Times(const DotOperand<Counted>& a, size_t first, size_t last) const;

 private:
  void SetBlocks(std::span<const double> plain);

  std::span<const Counted> numbers_;
  size_t count_, width_;
  std::vector<DotOperand<Counted>> rows_;  // unless all rows are plain
  // If all rows are plain: for each block of kPlainRows rows its columns, the last padded with 0.
  std::vector<float> blocks_;
  std::vector<PlainRange> range_of_block_;
};

}  // namespace sextant
