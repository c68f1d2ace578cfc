#include "oracle/attention/measured/relative_parts.h"

#include "reference/attention/attention_rows.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

// The heads of k or v that the heads of this slice read.
template <class Real>
Tensor<Real> RelativeHeadsOf(const RelativeParts& parts, const std::vector<size_t>& heads,
                             size_t input, const Tensor<Real>& own) {
  if (heads.empty()) return own;
  const NamedTensor& whole = (*parts.inputs)[input];
  const size_t H = whole.values.shape[1], width = own.shape[2] * own.shape[3];
  Tensor<Real> read(own.shape);
  for (size_t i = 0; i < read.data.size(); ++i) {
    const size_t b = SliceBegin("B") + i / width / own.shape[1];
    const size_t h = SliceBegin("H") + i / width % own.shape[1];
    read.data[i] = Real(whole.values.data[(b * H + heads[h]) * width + i % width], whole.dtype);
  }
  return read;
}

// One query's keys: those that it sees, what the key table adds for each, and the rows of the value
// table.
struct RelativeKeys {
  std::vector<size_t> at;
  std::vector<TableTerm> terms;
  std::vector<std::optional<int64_t>> rows;
};

RelativeKeys RelativeKeysOf(const RelativeByParts& op, size_t s, double query,
                            const Tensor<double>& positions) {
  RelativeKeys keys;
  const RelativeParts& parts = op.parts;
  for (size_t t = 0; t < positions.data.size(); ++t) {
    const RelativeKey key{static_cast<int64_t>(SliceBegin("S") + s), static_cast<int64_t>(t),
                          static_cast<int64_t>(query), static_cast<int64_t>(positions.data[t])};
    if (parts.sees && !parts.sees(key)) continue;
    const auto right = [&] { return RelativeAttention::RowOf(key.i, key.j, op.clip); };
    const auto row = parts.row ? parts.row(key, op.clip) : std::optional(right());
    keys.at.push_back(t);
    keys.terms.push_back(parts.term ? parts.term(key, op.clip) : TableTerm{row, key.s});
    keys.rows.push_back(parts.value_row ? parts.value_row(key, op.clip) : row);
  }
  return keys;
}

// The product of a row with the query of index s, in the head of row `own` of the slice.
template <class Real>
Real DotOfQuery(const RelativeParts& parts, const Tensor<Real>& q, size_t own, int64_t s,
                std::span<const Real> row) {
  const size_t heads = q.shape[1], S = q.shape[2], D = q.shape[3];
  if (s == static_cast<int64_t>(SliceBegin("S") + own % S)) return Dot(RowAt(q, own), row);
  const NamedTensor& whole = (*parts.inputs)[0];
  const size_t b = SliceBegin("B") + own / S / heads, h = SliceBegin("H") + own / S % heads;
  const Shape& shape = whole.values.shape;
  const size_t first = ((b * shape[1] + h) * shape[2] + static_cast<size_t>(s)) * D;
  std::vector<Real> query;
  for (size_t d = 0; d < D; ++d) query.push_back(Real(whole.values.data[first + d], whole.dtype));
  return Dot(std::span<const Real>(query), row);
}

// The mean of rows of the table; those that are none are rows of 0.
template <class Real>
Real MeanOfTable(const SoftmaxRow<Real>& weights, const Tensor<Real>& table,
                 const std::vector<std::optional<int64_t>>& rows, size_t d) {
  std::vector<Real> column;
  for (const auto& row : rows)
    column.push_back(row ? RowAt(table, static_cast<size_t>(*row))[d] : Real(0.0));
  return weights.Mean(column);
}

}  // namespace

template <class Real>
void RelativeByParts::operator()(const Tensor<Real>& q, const Tensor<Real>& k,
                                 const Tensor<Real>& v, const Tensor<Real>& key_table,
                                 const Tensor<Real>& value_table,
                                 const Tensor<double>& query_position,
                                 const Tensor<double>& key_position, Tensor<Real>& y,
                                 Tensor<Real>& scores) const {
  const size_t heads = q.shape[0] * q.shape[1], S = q.shape[2], T = k.shape[2], D = q.shape[3];
  const ScoreScale<Real> scaled(scale, D);
  const Tensor<Real> own_k = RelativeHeadsOf(parts, parts.key_heads, 1, k);
  const Tensor<Real> own_v = RelativeHeadsOf(parts, parts.value_heads, 2, v);
  for (size_t query = 0; query < heads * S; ++query) {
    const RelativeKeys keys =
        RelativeKeysOf(*this, query % S, query_position(query % S), key_position);
    const size_t first = query / S * T;
    std::vector<Real> row;
    for (size_t n = 0; n < keys.at.size(); ++n) {
      const Real content = Dot(RowAt(q, query), RowAt(own_k, first + keys.at[n]));
      const auto& [table_row, of_query, of_key] = keys.terms[n];
      Real relative(0.0);
      if (table_row) {
        const auto row = RowAt(key_table, static_cast<size_t>(*table_row));
        relative = of_key ? Dot(RowAt(own_k, first + keys.at[n]), row)
                          : DotOfQuery(parts, q, query, of_query, row);
      }
      const ScopedStep at(Step::kScore);
      if (parts.table_factor != 1) relative = relative * Real(parts.table_factor);
      Real score = scaled(content + relative);
      if (parts.cap) score = SoftCapFunction<Real>(*parts.cap)(score);
      row.push_back(Converted(score));
      scores.data[query * T + keys.at[n]] = row.back();
    }
    if (row.empty()) continue;
    const SoftmaxRow<Real> weights(row);
    std::vector<size_t> values;
    for (const size_t t : keys.at) values.push_back(first + t);
    for (size_t d = 0; d < D; ++d) {
      const Real content = MeanOfRows<Real>(weights, own_v, values, d);
      const Real relative = MeanOfTable<Real>(weights, value_table, keys.rows, d);
      const ScopedStep at(Step::kWeigh);
      y.data[query * D + d] = content + relative;
    }
  }
}

template void RelativeByParts::operator()(const Tensor<Counted>&, const Tensor<Counted>&,
                                          const Tensor<Counted>&, const Tensor<Counted>&,
                                          const Tensor<Counted>&, const Tensor<double>&,
                                          const Tensor<double>&, Tensor<Counted>&,
                                          Tensor<Counted>&) const;
template void RelativeByParts::operator()(const Tensor<Rounded>&, const Tensor<Rounded>&,
                                          const Tensor<Rounded>&, const Tensor<Rounded>&,
                                          const Tensor<Rounded>&, const Tensor<double>&,
                                          const Tensor<double>&, Tensor<Rounded>&,
                                          Tensor<Rounded>&) const;

Choice ChangedParts(const std::string& sentence,
                    const std::function<void(RelativeParts& parts)>& edit) {
  return {sentence, [edit](const Hypothesis& base) {
            return std::optional(Edited<RelativeByParts>(base, [&](RelativeByParts& op) {
              edit(op.parts);
              op.parts.inputs = base.inputs;
            }));
          }};
}

}  // namespace sextant::oracle
