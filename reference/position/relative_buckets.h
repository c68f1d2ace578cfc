// The buckets of T5's relative positions, in exact integer arithmetic.
//
// With n buckets on a side and x = n/2 (rounded down), a distance d >= 0 falls into bucket
//   d                                                              for d < x
//   min(n - 1, x + floor(ln(d/x) / ln(max_distance/x) * (n - x)))  for d >= x
// Bidirectional: n is half the number of rows, and keys after the query use the second half. One
// direction: n is the number of rows, and keys after the query have distance 0.
// Source: Raffel et al. 2019, arXiv:1910.10683, section 2.1; mesh_tensorflow
// transformer_layers.py _relative_position_bucket.
#pragma once

#include <cstdint>
#include <vector>

namespace sextant {

class RelativeBuckets {
 public:
  // With more rows, the exact powers take minutes.
  static constexpr int64_t kMostRows = 1024;

  // Throws Error unless there is at least one bucket for a single distance and one logarithmic
  // bucket on each side.
  RelativeBuckets(int64_t rows, int64_t max_distance, bool bidirectional);

  // The row of the table for a key at j and a query at i.
  int64_t RowOf(int64_t i, int64_t j) const;

  // The least distance of each bucket of a side, in ascending order. An empty bucket has the same
  // start as the next one.
  const std::vector<int64_t>& starts() const { return starts_; }
  bool bidirectional() const { return bidirectional_; }

 private:
  std::vector<int64_t> starts_;
  bool bidirectional_;
};

}  // namespace sextant
