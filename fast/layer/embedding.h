// Fast lookup of table rows by token. The formula: reference/layer/embedding.h.
#pragma once

#include <cstdint>
#include <span>

#include "fast/simd/element.h"

namespace sextant::fast {

// A table with rows of M contiguous elements, and the factor of the looked-up rows.
template <Element T>
struct EmbeddingTable {
  const T* rows;
  size_t M = 0;
  double scale = 1;
};

// y[tokens, M]: the rows of the tokens times the scale. Each token must be a row index of the
// table. With scale 1 the rows are copied bit by bit. Otherwise the scale is rounded to f32 (f64
// for f64), and the product is rounded once. y must not overlap the table.
template <Element T>
void GatherRows(const EmbeddingTable<T>& table, std::span<const int64_t> token, T* y);

}  // namespace sextant::fast
