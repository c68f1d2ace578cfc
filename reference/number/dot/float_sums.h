// Sums of products in f32 in any order of their terms (sum_order.h): the bits of SumOf for Rounded.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "reference/number/dot/rounded_dot.h"
#include "reference/number/recipe/sum_order.h"

namespace sextant {

// The order of the terms of dot products of that width, at least 1, for many rows and blocks.
class FloatSums {
 public:
  FloatSums(const SumOrder& order, size_t width);

  // The columns of a block (rounded_dot.h), and the numbers of a row, as Add needs them.
  std::vector<float> BlockInOrder(std::vector<float> block) const;
  std::vector<float> RowInOrder(std::span<const float> row) const;

  // sums[j]: the sum of the products of the row with column j of the block.
  void Add(std::span<const float> row, const float* block, float* sums) const;

 private:
  void AddParts(std::span<const float> row, const float* block, float* sums) const;

  SumOrder order_;
  std::vector<size_t> index_;  // of the terms, in order; empty: as they are
  std::vector<size_t> ends_;   // of the parts, in that order: each is added up, and then their sums
};

}  // namespace sextant
