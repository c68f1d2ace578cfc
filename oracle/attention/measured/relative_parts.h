// Attention with relative positions, with other heads, distances, keys, or a cap, each by itself.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "oracle/diagnosis/deviation.h"
#include "reference/attention/relative_attention.h"

namespace sextant::oracle {

// A key at index t and position j, seen from a query at index s and position i.
struct RelativeKey {
  int64_t s, t, i, j;
};

struct RelativeParts {
  // The row of the tables; null: that of the formula.
  std::function<int64_t(const RelativeKey& key, int64_t clip)> row;
  std::function<bool(const RelativeKey& key)> sees;  // null: all keys
  std::vector<size_t> key_heads, value_heads;        // of every head; empty: its own
  std::shared_ptr<const Tensors> inputs;             // of the whole case, for other heads
  std::optional<double> cap;                         // of the scores
  double table_factor = 1;                           // of the scores of the key table
};

struct RelativeByParts : RelativeAttention {
  RelativeParts parts{};
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& key_table, const Tensor<Real>& value_table,
                  const Tensor<double>& query_position, const Tensor<double>& key_position,
                  Tensor<Real>& y, Tensor<Real>& scores) const;
};

}  // namespace sextant::oracle
