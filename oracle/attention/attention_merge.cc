#include "reference/attention/attention_merge.h"

#include <algorithm>
#include <cmath>

#include "oracle/attention/arg_max_score.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/common_properties.h"
#include "reference/attention/attention_merge_plan.h"
#include "reference/attention/empty_log_sum_exp.h"
#include "reference/attention/softmax_row.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMerged = 0, kLse = 1;

Tensors Exchanged(Tensors inputs) {
  std::swap(inputs[0].values, inputs[2].values);
  std::swap(inputs[1].values, inputs[3].values);
  return inputs;
}

Comparisons CheckExchange(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  ExpectEqual(ask(c, inputs), ask(c, Exchanged(inputs)), comparisons);
  return comparisons;
}

// If one part has no keys, the result is the other part.
Comparisons CheckEmptyPart(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  for (const bool first : {true, false}) {
    Tensors half = inputs;
    std::ranges::fill(half[first ? 1 : 3].values.data, -INFINITY);
    const Response y = ask(c, half);
    const auto& values = half[first ? 2 : 0].values.data;
    const auto& lse = half[first ? 3 : 1].values.data;
    for (size_t i = 0; i < values.size(); ++i)
      comparisons.Equal(y(kMerged, i), values[i], {y, kMerged, i});
    for (size_t n = 0; n < lse.size(); ++n) comparisons.Equal(y(kLse, n), lse[n], {y, kLse, n});
  }
  return comparisons;
}

// With equal lse, y is the mean of both parts and lse is larger by ln 2.
Comparisons CheckAttentionMergeEqual(const Case& c, Tensors inputs, const Ask& ask) {
  Comparisons comparisons;
  inputs[3].values = inputs[1].values;
  const Response y = ask(c, inputs);
  for (size_t i = 0; i < y.size(kMerged); ++i) {
    const Measured sum = Measured(inputs[0].values.data[i]) + inputs[2].values.data[i];
    comparisons.Equal(y(kMerged, i) * 2, sum, {y, kMerged, i});
  }
  for (size_t n = 0; n < y.size(kLse); ++n) {
    const Measured lse = Measured(inputs[1].values.data[n]) + LogOf(2);
    comparisons.Equal(y(kLse, n), lse, {y, kLse, n});
  }
  return comparisons;
}

// Adding 8 to both lse adds 8 to the result's lse and does not change y.
Comparisons CheckAttentionMergeShift(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  Tensors whole = inputs, larger = inputs;
  for (const size_t which : {1, 3}) {
    for (double& x : whole[which].values.data)
      x = std::round(std::clamp(x, -100.0, 100.0) * 16) / 16;
    larger[which].values = whole[which].values;
    for (double& x : larger[which].values.data) x += 8;
  }
  const Response a = ask(c, whole), b = ask(c, larger);
  for (size_t i = 0; i < a.size(kMerged); ++i) {
    comparisons.Equal(a(kMerged, i), b(kMerged, i), {b, kMerged, i});
  }
  for (size_t n = 0; n < a.size(kLse); ++n) {
    comparisons.Equal(a(kLse, n) + 8, b(kLse, n), {b, kLse, n});
  }
  return comparisons;
}

Comparisons CheckAttentionMergeHull(const Case& c, const Tensors& inputs, const Ask& ask) {
  Comparisons comparisons;
  const Response y = ask(c, inputs);
  for (size_t i = 0; i < y.size(kMerged); ++i) {
    const auto [least, most] = std::minmax(inputs[0].values.data[i], inputs[2].values.data[i]);
    comparisons.AtMost(least, y(kMerged, i), {y, kMerged, i});
    comparisons.AtMost(y(kMerged, i), most, {y, kMerged, i});
  }
  return comparisons;
}

// The formula with one mutation.
struct MutatedAttentionMerge : AttentionMerge {
  enum class Mutation {
    kNone,
    kMean,         // both parts have the same weight
    kBySize,       // weights are lse, not e^lse
    kNotDivided,   // y = y1 e^(lse1 - largest) + y2 e^(lse2 - largest)
    kBase2,        // 2^lse
    kExchanged,    // each part has the weight of the other
    kFirstAlone,   // the second part is not added
    kLseAdded,     // lse1 + lse2
    kLseUnscaled,  // lse lacks the largest
    kLseOfFirst,   // lse1
    // Mutations of rows in which a part has no keys:
    kEmptyCounts,       // a part without keys has weight e^0
    kEmptyMean,         // both without keys: y is the mean
    kEmptyLsePositive,  // both without keys: lse is +infinity
  } mutation{};
  bool Is(Mutation m) const { return mutation == m; }

  template <class Real>
  void operator()(const Tensor<Real>& y1, const Tensor<Real>& lse1, const Tensor<Real>& y2,
                  const Tensor<Real>& lse2, Tensor<Real>& y, Tensor<Real>& lse) const {
    AttentionMerge::operator()(y1, lse1, y2, lse2, y, lse);
    for (size_t n = 0; n < y.shape[0]; ++n) {
      const bool no_a = IsEmptyLogSumExp(lse1(n)), no_b = IsEmptyLogSumExp(lse2(n));
      if (!no_a && !no_b) {
        if (mutation < Mutation::kEmptyCounts) AnswerRow(lse1(n), lse2(n), lse(n), y1, y2, y, n);
        continue;
      }
      const bool both = no_a && no_b;
      if (both && empty_rows == EmptyRows::kUnspecified) continue;
      if (both && Is(Mutation::kEmptyLsePositive)) lse(n) = Real(0.0) - EmptyLogSumExp<Real>();
      if (!Is(both ? Mutation::kEmptyMean : Mutation::kEmptyCounts)) continue;
      for (size_t e = 0; e < y.shape[1]; ++e) y(n, e) = (y1(n, e) + y2(n, e)) * Real(0.5);
    }
  }

 private:
  template <class Real>
  void AnswerRow(const Real& a, const Real& b, Real& lse, const Tensor<Real>& y1,
                 const Tensor<Real>& y2, Tensor<Real>& y, size_t n) const {
    std::vector<Real> scores = {a, b};
    const Real largest = scores[ArgMaxScore<Real>(scores)];
    std::vector<Real> weights;
    {
      const ScopedStep at(Step::kSoftmax);
      const Real two = Log(Real(2.0));
      if (Is(Mutation::kBase2)) scores = {a * two, b * two};
      const SoftmaxRow<Real> row(scores);
      weights = row.weights();
      if (Is(Mutation::kBase2)) lse = row.LogSumExp() / two;
      if (Is(Mutation::kFirstAlone) || Is(Mutation::kLseOfFirst)) lse = a;
      if (Is(Mutation::kLseAdded)) lse = a + b;
      if (Is(Mutation::kLseUnscaled)) lse = lse - largest;
      if (Is(Mutation::kMean)) weights = {Real(0.5), Real(0.5)};
      if (Is(Mutation::kBySize)) weights = {a / (a + b), b / (a + b)};
      if (Is(Mutation::kNotDivided)) weights = {Exp(a - largest), Exp(b - largest)};
      if (Is(Mutation::kFirstAlone)) weights = {Real(1.0), Real(0.0)};
      if (Is(Mutation::kExchanged)) std::swap(weights[0], weights[1]);
    }
    for (Real& weight : weights) {
      const ScopedStep at(Step::kWeigh);
      weight = Converted(weight);
    }
    for (size_t e = 0; e < y.shape[1]; ++e)
      y(n, e) = Dot<Real>(weights, std::vector<Real>{y1(n, e), y2(n, e)});
  }
};

std::vector<Defect> AttentionMergeFormulaDefects() {
  using Mutation = MutatedAttentionMerge::Mutation;
  return Joined<Defect>(
      {MutatedFormulas<MutatedAttentionMerge>({
           {"plain_mean", "both parts have the same weight", Mutation::kMean},
           {"weights_of_lse", "the weights are lse instead of e^lse", Mutation::kBySize},
           {"not_divided", "the sum is not divided by the sum of the weights",
            Mutation::kNotDivided},
           {"base_2", "lse is used as a logarithm to base 2 (FlashInfer's)", Mutation::kBase2},
           {"weights_exchanged", "each part has the weight of the other", Mutation::kExchanged},
           {"first_alone", "the second part is not added", Mutation::kFirstAlone},
           {"lse_of_first", "lse is that of the first part", Mutation::kLseOfFirst},
           {"lse_added", "lse is lse1 + lse2", Mutation::kLseAdded},
           {"lse_less_largest", "the largest is not added back to lse", Mutation::kLseUnscaled},
           {"empty_part_counts", "a part without keys has half the weight", Mutation::kEmptyCounts},
           {"empty_rows_mean", "if both parts have no keys, y is their mean", Mutation::kEmptyMean},
           {"empty_lse_positive", "lse of two parts without keys is +infinity (flash-attention)",
            Mutation::kEmptyLsePositive},
       }),
       {
           ChangedInputs("rows_of_first", "every row has the weights of the first row",
                         [](const Case&, Tensors& inputs) {
                           for (const size_t which : {1, 3}) {
                             auto& lse = inputs[which].values.data;
                             if (!lse.empty()) std::ranges::fill(lse, lse[0]);
                           }
                           return true;
                         }),
           ChangedRecipe("weights_in_bf16", "weights are computed in bf16", "softmax=bf16"),
           ChangedRecipe("products_in_bf16", "parts are added in bf16", "dot=bf16"),
       }});
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<AttentionMerge>() {
  return {
      .properties = {{"parts_in_any_order", "exchanging the parts changes nothing", CheckExchange},
                     {"nothing_changes_nothing", "a part without keys changes nothing",
                      CheckEmptyPart},
                     {"equal_parts", "with equal lse, y is the mean and lse is larger by ln 2",
                      CheckAttentionMergeEqual},
                     {"shifted", "a number added to both lse is added to the result's lse",
                      CheckAttentionMergeShift},
                     {"between", "y lies between the parts", CheckAttentionMergeHull}},
      .defects = AttentionMergeFormulaDefects(),
      .plan = MakerOf<AttentionMerge>()};
}

}  // namespace sextant::oracle
