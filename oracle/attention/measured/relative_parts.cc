#include "oracle/attention/measured/relative_parts.h"

#include "reference/attention/attention_rows.h"
#include "reference/prove/slices.h"

namespace sextant::oracle {
namespace {

// The heads of k or v that the heads of this slice read.
template <class Real>
Tensor<Real> HeadsOf(const RelativeParts& parts, const std::vector<size_t>& heads, size_t input,
                     const Tensor<Real>& own) {
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

// One query's keys.
struct Keys {
  std::vector<size_t> at, rows;  // those that it sees, and the rows of the tables
};

Keys KeysOf(const RelativeByParts& op, size_t s, double query, const Tensor<double>& positions) {
  Keys keys;
  for (size_t t = 0; t < positions.data.size(); ++t) {
    const RelativeKey key{static_cast<int64_t>(SliceBegin("S") + s), static_cast<int64_t>(t),
                          static_cast<int64_t>(query), static_cast<int64_t>(positions.data[t])};
    if (op.parts.sees && !op.parts.sees(key)) continue;
    const int64_t row =
        op.parts.row ? op.parts.row(key, op.clip) : RelativeAttention::RowOf(key.i, key.j, op.clip);
    keys.at.push_back(t);
    keys.rows.push_back(static_cast<size_t>(row));
  }
  return keys;
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
  const Tensor<Real> own_k = HeadsOf(parts, parts.key_heads, 1, k);
  const Tensor<Real> own_v = HeadsOf(parts, parts.value_heads, 2, v);
  for (size_t query = 0; query < heads * S; ++query) {
    const Keys keys = KeysOf(*this, query % S, query_position(query % S), key_position);
    const size_t first = query / S * T;
    std::vector<Real> row;
    for (size_t n = 0; n < keys.at.size(); ++n) {
      const Real content = Dot(RowAt(q, query), RowAt(own_k, first + keys.at[n]));
      Real relative = Dot(RowAt(q, query), RowAt(key_table, keys.rows[n]));
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
      const Real relative = MeanOfRows<Real>(weights, value_table, keys.rows, d);
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

}  // namespace sextant::oracle
