// Dot products of a row of Counted numbers, which have errors, with plain numbers (plain_dot.h):
// the fast path of MultiplyByWeights, with the bits of Dot.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "reference/number/counted/counted.h"
#include "reference/number/dot/dot.h"
#include "reference/number/dot/plain_dot.h"

namespace sextant {

// kPlainRows rows of plain numbers, column by column, and what is known of them.
struct PlainBlock {
  std::vector<float> numbers;
  PlainRange range;
};

// A row prepared for products with many blocks of plain numbers. The step must neither be exact nor
// flush, and its format have at most kMostPlainBits bits.
class CountedRow {
 public:
  explicit CountedRow(std::span<const Counted> numbers);
  const DotOperand<Counted>& operand() const { return operand_; }
  // The product with column j of a block; empty where only Dot gives it.
  using Products = std::vector<std::optional<Counted>>;  // kPlainRows
  Products Times(const PlainBlock& block) const;

 private:
  void SetFactors(std::span<const Counted> numbers);
  Products PlainTimes(const PlainBlock& block) const;
  Counted Product(std::span<const float> block, const CountedSums& sums, size_t j) const;
  bool IsSaturated(std::span<const float> block, size_t j) const;

  DotOperand<Counted> operand_;
  std::vector<CountedFactor> factors_;  // empty: the row is plain, or has no fast path
  bool unbounded_ = false;              // some error is infinite
  std::vector<size_t> saturated_;       // the indices of saturated numbers
};

}  // namespace sextant
