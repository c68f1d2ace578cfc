#include "reference/attention/relative_attention.h"

#include <algorithm>

#include "oracle/attention/attention_defects.h"
#include "oracle/defect/input_defects.h"
#include "oracle/defect/oracle.h"
#include "oracle/position/relative_defects.h"
#include "oracle/property/laws.h"
#include "reference/attention/softmax_row.h"

namespace sextant::oracle {
namespace {

constexpr size_t kY = 0, kScores = 1;

double ClipOf(const Case& c) { return NumberOf(c, "clip", 0); }

// Keys as far as clip or further from every query, further still: nothing changes.
Findings CheckClip(const Case& c, const Tensors& inputs, const Ask& ask) {
  Tensors further = inputs;
  const auto& query = In(further, "query_position").data;
  if (query.empty()) return {};
  const auto [first, last] = std::ranges::minmax(query);
  for (double& key : In(further, "key_position").data) {
    if (key <= first - ClipOf(c)) key -= 1000;
    if (key >= last + ClipOf(c)) key += 1000;
  }
  Findings findings;
  Same(ask(c, inputs), ask(c, further), findings);
  return findings;
}

// Values of 1 and a table of 0, or the other way round, have mean 1: weights sum to 1.
Findings CheckSum(const Case& c, const Tensors& inputs, const Ask& ask) {
  Findings findings;
  for (const double value : {0, 1}) {
    if (In(inputs, "key_position").data.empty()) return findings;
    const Response y = ask(c, Filled(Filled(inputs, {"v"}, value), {"value_table"}, 1 - value));
    for (size_t i = 0; i < y.outputs[kY].values.data.size(); ++i) {
      findings.Equal(y(kY, i), 1, {y, kY, i});
    }
  }
  return findings;
}

// Keys, values and positions in reverse order: the same y, and scores in reverse order.
Findings CheckOrder(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t T = ExtentOf(c, "T"), D = ExtentOf(c, "D");
  Tensors turned = inputs;
  std::ranges::reverse(In(turned, "key_position").data);
  for (const char* name : {"k", "v"}) {
    Tensor<double>& rows = In(turned, name);
    ReverseBlocks(rows, rows.shape[0] * rows.shape[1], D);
  }
  const Response a = ask(c, inputs), b = ask(c, turned);
  Findings findings;
  for (size_t i = 0; i < a.outputs[kY].values.data.size(); ++i) {
    findings.Equal(a(kY, i), b(kY, i), {b, kY, i});
  }
  if (!a.Has(kScores) || !b.Has(kScores)) return findings;
  for (size_t i = 0; i < a.outputs[kScores].values.data.size(); ++i) {
    findings.Equal(a(kScores, i), b(kScores, i / T * T + (T - 1 - i % T)), {b, kScores, i});
  }
  return findings;
}

// Scores are those of the keys plus those of the table.
Findings CheckParts(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response all = ask(c, inputs), a = ask(c, Filled(inputs, {"key_table"}, 0)),
                 b = ask(c, Filled(inputs, {"k"}, 0));
  Findings findings;
  if (!all.Has(kScores) || !a.Has(kScores) || !b.Has(kScores)) return findings;
  for (size_t i = 0; i < all.outputs[kScores].values.data.size(); ++i) {
    findings.Equal(all(kScores, i), a(kScores, i) + b(kScores, i), {all, kScores, i});
  }
  return findings;
}

// Unset, D scores^2 are the squares of those with scale 1, and of the same sign; else they are in
// proportion.
Findings CheckScale(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response scaled = ask(c, inputs), plain = ask(c.With("scale=1"), inputs);
  const std::string scale = TextOf(c, "scale");
  Findings findings;
  if (!scaled.Has(kScores) || !plain.Has(kScores)) return findings;
  for (size_t i = 0; i < scaled.outputs[kScores].values.data.size(); ++i) {
    const Measured a = scaled(kScores, i), b = plain(kScores, i);
    if (scale.empty()) {
      findings.Equal(a * a * static_cast<double>(ExtentOf(c, "D")), b * b, {scaled, kScores, i});
      findings.AtMost(0, a * b, {scaled, kScores, i});
    } else {
      findings.Equal(a, b * NumberOf(c, "scale", 1), {scaled, kScores, i});
    }
  }
  return findings;
}

// The same for every key, k adds a constant to each row of scores: y does not see it.
Findings CheckConstant(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t T = ExtentOf(c, "T"), D = ExtentOf(c, "D");
  Tensors same = inputs;
  auto& k = In(same, "k").data;
  for (size_t i = 0; i < k.size(); ++i) k[i] = k[i / (T * D) * (T * D) + i % D];
  return SameAnswer(c, same, Filled(inputs, {"k"}, 0), ask);
}

// With a key table of 0 and equal keys all weigh the same: y is the plain mean.
Findings CheckMean(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t T = ExtentOf(c, "T"), D = ExtentOf(c, "D"), S = ExtentOf(c, "S");
  const Response y = ask(c, Filled(inputs, {"k", "key_table", "value_table"}, 0));
  const auto& v = In(inputs, "v").data;
  Findings findings;
  for (size_t i = 0; T > 0 && i < y.outputs[kY].values.data.size(); ++i) {
    Measured sum = 0;
    for (size_t t = 0; t < T; ++t) sum = sum + v[(i / (S * D) * T + t) * D + i % D];
    findings.Equal(y(kY, i) * static_cast<double>(T), sum, {y, kY, i});
  }
  return findings;
}

Findings CheckValues(const Case& c, const Tensors& inputs, const Ask& ask) {
  Findings findings;  // half of a number need not be one of the dtype
  Proportional(ask(c, Multiplied(inputs, {"v", "value_table"}, 2)), 2, ask(c, inputs), findings);
  return findings;
}

// The formula with one mistake.
struct Mistaken : RelativeAttention {
  enum class Mistake {
    kSign,           // i - j
    kUnclipped,      // distances wrap around in the table
    kNotShifted,     // negative distances count from the table's end
    kByIndex,        // distances of indices, not of positions
    kRelativeApart,  // the table's score is not scaled
    kNoSoftmax,      // scores weigh as they are
    kOverQueries,    // the softmax goes over the queries
    kCausal,         // keys after the query weigh nothing
    kTableByQuery,   // the row is the query's own clipped position
    kTableAfter,     // the table's score is added to the weights
  } mistake{};

  bool Is(Mistake m) const { return mistake == m; }
  size_t Row(double query, double key, size_t s, size_t t) const {
    const auto i = static_cast<int64_t>(Is(Mistake::kByIndex) ? static_cast<double>(s) : query);
    const auto j = static_cast<int64_t>(Is(Mistake::kByIndex) ? static_cast<double>(t) : key);
    const int64_t rows = 2 * clip + 1;
    const auto wrapped = [rows](int64_t r) { return (r % rows + rows) % rows; };
    const int64_t row = Is(Mistake::kSign)           ? RowOf(j, i, clip)
                        : Is(Mistake::kUnclipped)    ? wrapped(j - i + clip)
                        : Is(Mistake::kNotShifted)   ? wrapped(RowOf(i, j, clip) - clip)
                        : Is(Mistake::kTableByQuery) ? RowOf(0, i, clip)
                                                     : RowOf(i, j, clip);
    return static_cast<size_t>(row);
  }
  template <class Real>
  std::vector<Real> WeightsOf(const std::vector<Real>& scores) const {
    if (Is(Mistake::kNoSoftmax)) return scores;
    return SoftmaxRow<Real>(scores).weights();
  }
  template <class Real>
  void operator()(const Tensor<Real>& q, const Tensor<Real>& k, const Tensor<Real>& v,
                  const Tensor<Real>& key_table, const Tensor<Real>& value_table,
                  const Tensor<double>& query, const Tensor<double>& key, Tensor<Real>& y,
                  Tensor<Real>& scores) const {
    const size_t heads = q.shape[0] * q.shape[1], S = q.shape[2], T = k.shape[2], D = q.shape[3];
    const ScoreScale<Real> scaled(scale, D);
    const auto row_at = [D](const Tensor<Real>& of, size_t row) {
      return std::span(of.data).subspan(row * D, D);
    };
    for (size_t head = 0; T > 0 && head < heads; ++head) {
      Tensor<Real> added({S, T});
      for (size_t s = 0; s < S; ++s) {
        for (size_t t = 0; t < T; ++t) {
          const auto own = row_at(q, head * S + s);
          const Real content = Dot<Real>(own, row_at(k, head * T + t));
          const Real relative = Dot<Real>(own, row_at(key_table, Row(query(s), key(t), s, t)));
          const InStep at(Step::kScore);
          added(s, t) = relative;
          scores.data[(head * S + s) * T + t] =
              Converted(Is(Mistake::kRelativeApart) ? scaled(content) + relative
                        : Is(Mistake::kTableAfter)  ? scaled(content)
                                                    : scaled(content + relative));
        }
      }
      const auto score = [&](size_t s, size_t t) { return scores.data[(head * S + s) * T + t]; };
      for (size_t s = 0; s < S; ++s) {
        std::vector<Real> weights, row;
        std::vector<size_t> keys;
        for (size_t t = 0; t < T; ++t) {
          if (Is(Mistake::kCausal) && key(t) > query(s)) continue;
          keys.push_back(t);
          row.push_back(score(s, t));
        }
        weights = WeightsOf(row);
        if (Is(Mistake::kOverQueries)) {
          for (size_t t = 0; t < T; ++t) {
            std::vector<Real> column;
            for (size_t other = 0; other < S; ++other) column.push_back(score(other, t));
            weights[t] = SoftmaxRow<Real>(column).weights()[s];
          }
        }
        for (size_t d = 0; d < D; ++d) {
          std::vector<Real> values;
          for (const size_t t : keys) {
            const InStep at(Step::kWeigh);
            values.push_back(v.data[(head * T + t) * D + d] +
                             value_table(Row(query(s), key(t), s, t), d));
            if (Is(Mistake::kTableAfter) && d == 0) weights[t] = weights[t] + added(s, t);
          }
          y.data[(head * S + s) * D + d] = Dot<Real>(weights, values);
        }
      }
    }
  }
};

std::vector<Defect> FormulaDefects() {
  using Mistake = Mistaken::Mistake;
  return {
      MutatedFormula<Mistaken>("sign", "the row of i - j, not of j - i", Mistake::kSign),
      MutatedFormula<Mistaken>("not_clipped", "distances beyond clip wrap around in the tables",
                               Mistake::kUnclipped),
      MutatedFormula<Mistaken>("clip_not_added",
                               "negative distances count from the end of the tables",
                               Mistake::kNotShifted),
      MutatedFormula<Mistaken>("distances_of_indices",
                               "positions are ignored: packed or cached tokens are counted",
                               Mistake::kByIndex),
      MutatedFormula<Mistaken>("table_not_scaled", "q.k is scaled, q.a is not",
                               Mistake::kRelativeApart),
      MutatedFormula<Mistaken>("softmax_missing", "the scores weigh as they are",
                               Mistake::kNoSoftmax),
      MutatedFormula<Mistaken>("softmax_over_queries", "the softmax goes over the wrong axis",
                               Mistake::kOverQueries),
      MutatedFormula<Mistaken>("causal", "keys after the query are masked, as in a decoder",
                               Mistake::kCausal),
      MutatedFormula<Mistaken>("table_by_query",
                               "the tables are indexed by the query's position, as if absolute",
                               Mistake::kTableByQuery),
      MutatedFormula<Mistaken>("table_after_softmax", "the table's score is added to the weights",
                               Mistake::kTableAfter),
  };
}

std::vector<Defect> InputDefects() {
  return {
      MissingInput("key_table_missing", "the scores know no positions", "key_table"),
      MissingInput("value_table_missing", "the values know no positions, as in later variants",
                   "value_table"),
      ExchangedInputs("tables_exchanged", "keys take the values' table",
                      {{"key_table", "value_table"}}),
      RepeatedInputs("one_table", "the values take the keys' table",
                     {{"key_table", "value_table"}}),
      ExchangedInputs("keys_exchanged_with_values", "k and v are swapped", {{"k", "v"}}),
      ChangedInputs("clipped_one_early", "clip - 1: the outermost rows are never read",
                    [](const Case& c, Tensors& inputs) {
                      const size_t D = ExtentOf(c, "D");
                      if (ClipOf(c) == 0 || D == 0) return false;
                      for (const char* name : {"key_table", "value_table"}) {
                        auto& table = In(inputs, name).data;
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

std::vector<Defect> ScaleDefects() {
  return {
      ChangedWord("scale_missing", "no 1/sqrt(D) (mlc-ai/mlc-llm#3426)", "scale=1"),
      ChangedWord("scale_by_width", "1/D in place of 1/sqrt(D)",
                  [](const Case& c) {
                    const auto D = static_cast<double>(std::max<size_t>(1, ExtentOf(c, "D")));
                    return TextOf(c, "scale").empty() ? "scale=" + PrintValue(1 / D) : "";
                  }),
  };
}

}  // namespace

template <>
Oracle MakeOracle<RelativeAttention>() {
  return {
      .properties =
          {TranslationInvariant(),
           {"clipped", "beyond clip the distance does not matter", CheckClip},
           {"weights_sum_to_one", "the mean of ones is one", CheckSum},
           {"keys_in_any_order", "y does not depend on the order of the keys", CheckOrder},
           {"scores_add_up", "scores are those of the keys plus those of the table", CheckParts},
           {"scaled", "scores are in proportion to the scale, D^-1/2 unless set", CheckScale},
           {"constant_scores_do_not_count",
            "what all scores of a query have in common does not count", CheckConstant},
           {"equal_scores_give_the_mean", "equal scores give the mean of the values", CheckMean},
           {"linear_in_values", "twice the values give twice y", CheckValues}},
      .defects = Joined<Defect>({FormulaDefects(), InputDefects(), ScaleDefects(),
                                 AttentionRecipeDefects(), QueryKeyDefects()})};
}

}  // namespace sextant::oracle
