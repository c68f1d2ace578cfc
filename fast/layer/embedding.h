// Rows of a table, by token, for speed. The formula: reference/layer/embedding.h.
#pragma once

#include <cstdint>
#include <span>

#include "fast/simd/element.h"

namespace sextant::fast {

// A table of rows of M neighbouring elements, and what they are multiplied by.
template <Element T>
struct EmbeddingTable {
  const T* rows;
  size_t M = 0;
  double scale = 1;
};

// y [tokens, M]: the rows of the tokens, each of which is one of the table, times the scale. With
// scale 1 they are copied bit by bit; else the scale is rounded to the type that computes, f32 (f64
// for f64), and the product once. y must not touch the table.
template <Element T>
void GatherRows(const EmbeddingTable<T>& table, std::span<const int64_t> token, T* y) noexcept;

}  // namespace sextant::fast
