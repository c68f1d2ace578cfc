#include "oracle/attention/relative_attention_defects.h"

#include <algorithm>
#include <span>

#include "oracle/attention/attention_defects.h"
#include "oracle/attention/scale_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/position/relative_defects.h"
#include "oracle/property/changed_inputs.h"
#include "reference/attention/relative_attention.h"
#include "reference/attention/softmax_row.h"

namespace sextant::oracle {
namespace {

// The formula with one mutation.
struct MutatedRelativeAttention : RelativeAttention {
  enum class Mutation {
    kNone,
    kSign,           // i - j
    kUnclipped,      // distances wrap around in the table
    kNotShifted,     // negative distances are indices from the end of the table
    kByIndex,        // distances are those of indices, not of positions
    kRelativeApart,  // the score of the key table is not scaled
    kNoSoftmax,      // scores are the weights
    kOverQueries,    // the softmax runs over the queries
    kCausal,         // keys after the query have weight 0
    kTableByQuery,   // the row is the clipped position of the query
    kTableAfter,     // the score of the key table is added to the weights
  } mutation{};

  bool Is(Mutation m) const { return mutation == m; }
  size_t Row(double query, double key, size_t s, size_t t) const {
    const auto i = static_cast<int64_t>(Is(Mutation::kByIndex) ? static_cast<double>(s) : query);
    const auto j = static_cast<int64_t>(Is(Mutation::kByIndex) ? static_cast<double>(t) : key);
    const int64_t rows = 2 * clip + 1;
    const auto wrapped = [rows](int64_t r) { return (r % rows + rows) % rows; };
    const int64_t row = Is(Mutation::kSign)           ? RowOf(j, i, clip)
                        : Is(Mutation::kUnclipped)    ? wrapped(j - i + clip)
                        : Is(Mutation::kNotShifted)   ? wrapped(RowOf(i, j, clip) - clip)
                        : Is(Mutation::kTableByQuery) ? RowOf(0, i, clip)
                                                      : RowOf(i, j, clip);
    return static_cast<size_t>(row);
  }
  bool Sees(double query, double key) const { return !Is(Mutation::kCausal) || key <= query; }

  // The inputs of one call, and their rows.
  template <class Real>
  struct Call {
    const Tensor<Real>&q, &k, &v, &key_table, &value_table;
    const Tensor<double>&query, &key;
    size_t S, T, D;
    std::span<const Real> Row(const Tensor<Real>& of, size_t row) const {
      return std::span(of.data).subspan(row * D, D);
    }
  };

  // The scores of one head, and the part of each that comes from the key table.
  template <class Real>
  struct Scores {
    Tensor<Real> total, of_table;
  };
  template <class Real>
  Scores<Real> ScoresOf(const Call<Real>& in, size_t head) const {
    const ScoreScale<Real> scaled(scale, in.D);
    Scores<Real> scores{Tensor<Real>({in.S, in.T}), Tensor<Real>({in.S, in.T})};
    for (size_t s = 0; s < in.S; ++s) {
      for (size_t t = 0; t < in.T; ++t) {
        const auto own = in.Row(in.q, head * in.S + s);
        const Real content = Dot<Real>(own, in.Row(in.k, head * in.T + t));
        const Real relative =
            Dot<Real>(own, in.Row(in.key_table, Row(in.query(s), in.key(t), s, t)));
        const ScopedStep at(Step::kScore);
        scores.of_table(s, t) = relative;
        scores.total(s, t) = Converted(Is(Mutation::kRelativeApart) ? scaled(content) + relative
                                       : Is(Mutation::kTableAfter)  ? scaled(content)
                                                                    : scaled(content + relative));
      }
    }
    return scores;
  }

  // The weights of the keys that query s sees.
  template <class Real>
  std::vector<Real> WeightsOf(const Call<Real>& in, const Scores<Real>& scores, size_t s) const {
    std::vector<Real> row, weights;
    for (size_t t = 0; t < in.T; ++t) {
      if (Sees(in.query(s), in.key(t))) row.push_back(scores.total(s, t));
    }
    if (Is(Mutation::kNoSoftmax)) return row;
    if (!Is(Mutation::kOverQueries)) weights = SoftmaxRow<Real>(row).weights();
    for (size_t t = 0; Is(Mutation::kOverQueries) && t < in.T; ++t) {
      std::vector<Real> column;
      for (size_t other = 0; other < in.S; ++other) column.push_back(scores.total(other, t));
      weights.push_back(SoftmaxRow<Real>(column).weights()[s]);
    }
    const ScopedStep at(Step::kWeigh);
    for (size_t t = 0; Is(Mutation::kTableAfter) && t < in.T; ++t)
      weights[t] = weights[t] + scores.of_table(s, t);
    for (Real& weight : weights) weight = Converted(weight);
    return weights;
  }

  template <class Real>
  Real MeanOf(const Call<Real>& in, const std::vector<Real>& weights, size_t head, size_t s,
              size_t d) const {
    std::vector<Real> values, relative;
    for (size_t t = 0; t < in.T; ++t) {
      if (!Sees(in.query(s), in.key(t))) continue;
      values.push_back(in.v.data[(head * in.T + t) * in.D + d]);
      relative.push_back(in.value_table(Row(in.query(s), in.key(t), s, t), d));
    }
    const Real mean = Dot<Real>(weights, values), of_table = Dot<Real>(weights, relative);
    const ScopedStep at(Step::kWeigh);
    return mean + of_table;
  }

  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& key_table, const Tensor<Real>& value_table,
                  const Tensor<double>& query, const Tensor<double>& key, Tensor<Real>& y,
                  Tensor<Real>& scores) const {
    const size_t heads = q.shape[0] * q.shape[1], S = q.shape[2], T = k.shape[2], D = q.shape[3];
    const Call<Real> in{q, k, v, key_table, value_table, query, key, S, T, D};
    for (size_t head = 0; T > 0 && head < heads; ++head) {
      const Scores<Real> of_head = ScoresOf(in, head);
      std::ranges::copy(of_head.total.data,
                        scores.data.begin() + static_cast<ptrdiff_t>(head * S * T));
      for (size_t s = 0; s < S; ++s) {
        const std::vector<Real> weights = WeightsOf(in, of_head, s);
        for (size_t d = 0; d < D; ++d)
          y.data[(head * S + s) * D + d] = MeanOf(in, weights, head, s, d);
      }
    }
  }
};

std::vector<Defect> RelativeAttentionFormulaDefects() {
  using Mutation = MutatedRelativeAttention::Mutation;
  return MutatedFormulas<MutatedRelativeAttention>({
      {"sign", "the row of the tables is that of i - j instead of j - i", Mutation::kSign},
      {"not_clipped", "distances beyond clip wrap around in the tables", Mutation::kUnclipped},
      {"clip_not_added", "negative distances are indices from the end of the tables",
       Mutation::kNotShifted},
      {"distances_of_indices",
       "distances are those of indices: the positions of packed or cached tokens are ignored",
       Mutation::kByIndex, true},
      {"table_not_scaled", "q.k is scaled, q.a is not", Mutation::kRelativeApart},
      {"softmax_missing", "the scores are the weights: there is no softmax", Mutation::kNoSoftmax},
      {"softmax_over_queries", "the softmax runs over the queries instead of the keys",
       Mutation::kOverQueries, true},
      {"causal", "keys after the query are masked, as in a decoder", Mutation::kCausal},
      {"table_by_query",
       "the tables are indexed by the position of the query, like absolute positions",
       Mutation::kTableByQuery},
      {"table_after_softmax",
       "the score of the key table is added to the weights after the softmax",
       Mutation::kTableAfter},
  });
}

std::vector<Defect> RelativeAttentionInputDefects() {
  return {
      MissingInput("key_table_missing",
                   "the key table is not added: scores do not depend on positions", "key_table"),
      MissingInput("value_table_missing", "the value table is not added, as in later variants",
                   "value_table"),
      ExchangedInputs("tables_exchanged", "the two tables are swapped",
                      {{"key_table", "value_table"}}),
      RepeatedInputs("one_table", "the values use the table of the keys",
                     {{"key_table", "value_table"}}),
      ExchangedInputs("keys_and_values_exchanged", "k and v are swapped", {{"k", "v"}}),
      ChangedInputs("clipped_one_early",
                    "distances are clipped to clip - 1: the outermost rows are never read",
                    [](const Case& c, Tensors& inputs) {
                      const size_t D = ExtentOf(c, "D");
                      if (NumberOf(c, "clip", 0) == 0 || D == 0) return false;
                      for (const char* name : {"key_table", "value_table"}) {
                        auto& table = InputNamed(inputs, name).data;
                        const auto rows = static_cast<ptrdiff_t>(table.size() / D);
                        const auto width = static_cast<ptrdiff_t>(D);
                        std::copy_n(table.begin() + width, width, table.begin());
                        std::copy_n(table.begin() + (rows - 2) * width, width,
                                    table.begin() + (rows - 1) * width);
                      }
                      return true;
                    }),
  };
}

}  // namespace

std::vector<Defect> RelativeAttentionDefects() {
  return Joined<Defect>({RelativeAttentionFormulaDefects(), RelativeAttentionInputDefects(),
                         ScaleDefects(), AttentionRecipeDefects(), QueryKeyDefects()});
}

}  // namespace sextant::oracle
