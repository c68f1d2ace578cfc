#include "reference/attention/relative_attention.h"

#include "reference/attention/attention_rows.h"
#include "reference/case/intermediate.h"
#include "reference/case/operation.h"

namespace sextant {
namespace {

// The row of the tables for each key of one query.
std::vector<size_t> RowsOf(double query, const Tensor<double>& key_position, int64_t clip) {
  std::vector<size_t> rows;
  for (const double key : key_position.data) {
    rows.push_back(static_cast<size_t>(
        RelativeAttention::RowOf(static_cast<int64_t>(query), static_cast<int64_t>(key), clip)));
  }
  return rows;
}

}  // namespace

void RelativeAttention::Check() const {
  constexpr int64_t kMost = int64_t{1} << 32;
  if (clip < 0 || clip > kMost) throw Error("clip is ", clip, ", expected 0 to ", kMost);
}

template <class Real>
void RelativeAttention::operator()(const Tensor<Real>& q, const Tensor<Real>& k,
                                   const Tensor<Real>& v, const Tensor<Real>& key_table,
                                   const Tensor<Real>& value_table,
                                   const Tensor<double>& query_position,
                                   const Tensor<double>& key_position, Tensor<Real>& y,
                                   Tensor<Real>& scores) const {
  const size_t heads = q.shape[0] * q.shape[1], S = q.shape[2], T = k.shape[2], D = q.shape[3];
  const ScoreScale<Real> score_scale(scale, D);
  if (T == 0) return;
  for (size_t query = 0; query < heads * S; ++query) {
    CheckScale(scale, D);
    const std::vector<size_t> rows = RowsOf(query_position(query % S), key_position, clip);
    for (size_t t = 0; t < T; ++t) {
      const Real content = Dot(RowAt(q, query), RowAt(k, query / S * T + t));
      const Real relative = Dot(RowAt(q, query), RowAt(key_table, rows[t]));
      const ScopedStep at(Step::kScore);
      scores.data[query * T + t] = score_scale(content + relative);
    }
  }
  const Tensor<Real> kept = Intermediate(scores, Step::kScore);
  for (size_t query = 0; query < heads * S; ++query) {
    std::vector<size_t> keys(T);
    for (size_t t = 0; t < T; ++t) keys[t] = query / S * T + t;
    const std::vector<size_t> rows = RowsOf(query_position(query % S), key_position, clip);
    const SoftmaxRow<Real> weights(RowAt(kept, query));
    for (size_t d = 0; d < D; ++d) {
      const Real content = MeanOfRows<Real>(weights, v, keys, d);
      const Real relative = MeanOfRows<Real>(weights, value_table, rows, d);
      const ScopedStep at(Step::kWeigh);
      y.data[query * D + d] = content + relative;
    }
  }
}

template <>
std::unique_ptr<Operation> MakeOperation<RelativeAttention>() {
  return Wrap<RelativeAttention>();
}

}  // namespace sextant
