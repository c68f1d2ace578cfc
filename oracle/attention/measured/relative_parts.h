// Attention with relative positions, with other heads, distances, keys, or a cap, each by itself.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/diagnosis/choices.h"
#include "reference/attention/relative_attention.h"

namespace sextant::oracle {

// A key at index t and position j, seen from a query at index s and position i.
struct RelativeKey {
  int64_t s, t, i, j;
};

// What the key table adds to a score: the product of one of its rows with a query, or with the key.
struct TableTerm {
  std::optional<int64_t> row;  // none: 0
  int64_t query;               // its index, that of the own query in the formula
  bool of_key = false;
};

// The row of a table; none: 0 is added.
using TableRow = std::function<std::optional<int64_t>(const RelativeKey& key, int64_t clip)>;

struct RelativeParts {
  // The rows of both tables, and of each; null: those of the formula.
  TableRow row, value_row;
  std::function<TableTerm(const RelativeKey& key, int64_t clip)> term;
  std::function<bool(const RelativeKey& key)> sees;  // null: all keys
  std::vector<size_t> key_heads, value_heads;        // of every head; empty: its own
  std::optional<SharedInputs> inputs;  // of the whole case, for other heads and queries
  std::optional<double> cap;           // of the scores
  double table_factor = 1;             // of the scores of the key table
};

struct RelativeByParts : RelativeAttention {
  RelativeParts parts{};
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& key_table, const Tensor<Real>& value_table,
                  const Tensor<double>& query_position, const Tensor<double>& key_position,
                  Tensor<Real>& y, Tensor<Real>& scores) const;
};

// The same with other parts.
Choice ChangedParts(const std::string& sentence,
                    const std::function<void(RelativeParts& parts)>& edit);

}  // namespace sextant::oracle
