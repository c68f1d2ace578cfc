#include "reference/block/router.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/changed_inputs.h"
#include "oracle/property/common_properties.h"
#include "reference/case/operation.h"
#include "reference/number/value_of.h"

namespace sextant::oracle {
namespace {

constexpr size_t kIndices = 0, kWeights = 1;

// Renormalised weights of a token sum up to `scale`.
Comparisons CheckTotal(const Case& c, const Tensors& inputs, const Ask& ask) {
  if (TextOf(c, "renormalise") != "sum(eps=0)") return {};
  const Response y = ask(c, inputs);
  const size_t K = ExtentOf(c, "K");
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(kWeights); i += K) {
    Measured sum = 0;
    for (size_t k = 0; k < K; ++k) sum = sum + y(kWeights, i + k);
    comparisons.Equal(sum, NumberOf(c, "scale", 1), {y, kWeights, i});
  }
  return comparisons;
}

// Each expert is chosen at most once.
Comparisons CheckDifferent(const Case& c, const Tensors& inputs, const Ask& ask) {
  const Response y = ask(c, inputs);
  const size_t K = ExtentOf(c, "K");
  Comparisons comparisons;
  for (size_t i = 0; i < y.size(kIndices); i += K) {
    const std::span<const double> row(&y.outputs[kIndices].values.data[i], K);
    const auto different = static_cast<double>(std::set<double>(row.begin(), row.end()).size());
    comparisons.Equal(different, static_cast<double>(K), {y, kIndices, i});
  }
  return comparisons;
}

// With the experts in reversed order each keeps its weight, unless the recipe permits to exchange
// two.
Comparisons CheckReversed(const Case& c, const Tensors& inputs, const Ask& ask) {
  const size_t N = ExtentOf(c, "N"), E = ExtentOf(c, "E"), K = ExtentOf(c, "K");
  Tensors reversed = inputs;
  for (NamedTensor& input : reversed) ReverseBlocks(input.values, input.values.data.size() / E, 1);
  const Response y = ask(c, inputs), mirrored = ask(c, reversed);
  Comparisons comparisons;
  for (size_t n = 0; n < N; ++n) {
    bool may_differ = false;
    for (size_t i = n * K; i < (n + 1) * K; ++i)
      may_differ |= y(kIndices, i).error() > 0 || mirrored(kIndices, i).error() > 0;
    if (may_differ) continue;
    std::vector<Measured> weights(E, 0), mirrored_weights(E, 0);
    bool are_indices = true;
    for (size_t i = n * K; i < (n + 1) * K; ++i) {
      const double a = y.outputs[kIndices].values.data[i];
      const double b = mirrored.outputs[kIndices].values.data[i];
      const auto is_index = [E](double x) { return x >= 0 && x < static_cast<double>(E); };
      are_indices = are_indices && is_index(a) && is_index(b);
      if (!are_indices) break;
      weights[static_cast<size_t>(a)] = y(kWeights, i);
      mirrored_weights[E - 1 - static_cast<size_t>(b)] = mirrored(kWeights, i);
    }
    if (!are_indices) comparisons.Equal(kNaN, 0, {y, kIndices, n * K});
    if (!are_indices) continue;
    for (size_t e = 0; e < E; ++e)
      comparisons.Equal(weights[e], mirrored_weights[e], {mirrored, kWeights, n * K});
  }
  return comparisons;
}

struct MutatedRouter : Router {
  enum class Mutation {
    kNone,
    // What experts are chosen by:
    kWithoutBias,
    kBF16,
    kGroupsWithoutBias,
    kGroupByMean,
    kGroupsOfEach,
    kMaskedWithZero,
    kMaskedGroupsLost,
    kFirstToken,
    // The indices that are answered:
    kInGroup,
    kFromOne,
    // The weights:
    kBiased,
    kSortedApart,
    kOverAll,
    kTwice,
    kScaledTogether,
    kSoftmaxOfChosen,
  } mutation{};

  bool Is(Mutation other) const { return mutation == other; }

  // The numbers of experts by which they are chosen, with those of other groups masked.
  void Mask(std::vector<double>& by, const std::vector<double>& scores) const {
    const size_t size = by.size() / GroupCount();
    const auto group_of = [&](size_t e) {
      return Is(Mutation::kGroupsOfEach) ? e % GroupCount() : e / size;
    };
    std::vector<std::vector<double>> members(GroupCount());
    for (size_t e = 0; e < by.size(); ++e)
      members[group_of(e)].push_back(Is(Mutation::kGroupsWithoutBias) ? scores[e] : by[e]);
    std::vector<double> numbers;
    for (std::vector<double>& member : members) {
      std::ranges::sort(member, std::greater());
      double number = member[0];
      if (Is(Mutation::kGroupByMean)) {
        for (const double other : std::span(member).subspan(1)) number += other;
      } else if (BestOfGroup() == 2) {
        number += member[1];
      }
      numbers.push_back(number);
    }
    const std::vector<size_t> best = Best(numbers, ChosenGroups());
    for (size_t e = 0; e < by.size(); ++e)
      if (!std::ranges::count(best, group_of(e)))
        by[e] = Is(Mutation::kMaskedWithZero)     ? 0
                : Is(Mutation::kMaskedGroupsLost) ? by[e]
                                                  : -kInfinity;
  }
  static std::vector<size_t> Best(const std::vector<double>& numbers, size_t count,
                                  const std::vector<double>& finer = {}) {
    std::vector<size_t> order(numbers.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, std::greater(), [&](size_t i) {
      return std::pair(numbers[i], finer.empty() ? 0 : finer[i]);
    });
    order.resize(count);
    return order;
  }

  template <class Real>
  void Route(std::span<const Real> logits, const Tensor<Real>* bias, std::span<Real> indices,
             std::span<Real> weights) const {
    const std::vector<Real> scores = this->Scores(logits);
    std::vector<double> plain, by;
    for (const Real& score : scores) plain.push_back(ValueOf(score));
    for (size_t e = 0; e < scores.size(); ++e) {
      const double sum =
          bias && !Is(Mutation::kWithoutBias) ? plain[e] + ValueOf((*bias)(e)) : plain[e];
      by.push_back(Is(Mutation::kBF16) ? RoundTo(DType::kBF16, sum) : sum);
    }
    if (GroupCount() > 1) Mask(by, plain);
    // Of scores that are equal in a double the one with the larger logit is larger.
    std::vector<double> finer;
    for (const Real& logit : logits) finer.push_back(Is(Mutation::kBF16) ? 0 : ValueOf(logit));
    const std::vector<size_t> chosen = Best(by, indices.size(), finer);
    std::vector<Real> of_chosen, logits_of_chosen;
    for (const size_t e : chosen) {
      const ScopedStep at(Step::kBias);
      of_chosen.push_back(bias && Is(Mutation::kBiased) ? scores[e] + (*bias)(e) : scores[e]);
      logits_of_chosen.push_back(logits[e]);
    }
    if (Is(Mutation::kSoftmaxOfChosen))
      of_chosen = this->Scores(std::span<const Real>(logits_of_chosen));
    if (Is(Mutation::kSortedApart))
      std::ranges::stable_sort(of_chosen, std::greater(), [](const Real& w) { return ValueOf(w); });
    std::vector<Real> own = this->Weights(of_chosen);
    if (Is(Mutation::kTwice)) own = this->Weights(own);
    const bool is_renormalised = std::holds_alternative<BySum>(renormalise);
    const ScopedStep at(Step::kScale);
    for (size_t k = 0; k < own.size(); ++k) {
      if (Is(Mutation::kOverAll) && is_renormalised)
        own[k] = of_chosen[k] / SumOf(scores) * Real(scale);
      if (Is(Mutation::kScaledTogether) && !is_renormalised) own[k] = of_chosen[k];
    }
    const size_t size = logits.size() / GroupCount();
    for (size_t k = 0; k < chosen.size(); ++k) {
      const size_t index = Is(Mutation::kInGroup)   ? chosen[k] % size
                           : Is(Mutation::kFromOne) ? chosen[k] + 1
                                                    : chosen[k];
      indices[k] = Real(static_cast<double>(index), DType::kI64);
      weights[k] = own[k];
      if constexpr (std::same_as<Real, Counted>) {
        double distance = 0;  // of experts that the recipe may exchange
        for (size_t e = 0; e < by.size(); ++e)
          if (std::abs(by[e] - by[chosen[k]]) <= scores[e].error() + scores[chosen[k]].error())
            distance = std::max(distance,
                                std::abs(static_cast<double>(e) - static_cast<double>(chosen[k])));
        indices[k] = indices[k].WithError({distance, distance});
        if (distance > 0) weights[k] = weights[k].WithError({kInfinity, kInfinity});
      }
    }
  }

  template <class Real>
  void operator()(const Tensor<Real>& logits, const Tensor<Real>* bias, Tensor<Real>& indices,
                  Tensor<Real>& weights) const {
    const size_t E_ = logits.shape[1], K_ = indices.shape[1];
    for (size_t n = 0; n < logits.shape[0]; ++n)
      Route(std::span(logits.data).subspan(Is(Mutation::kFirstToken) ? 0 : n * E_, E_), bias,
            std::span(indices.data).subspan(n * K_, K_),
            std::span(weights.data).subspan(n * K_, K_));
  }
};

std::vector<Defect> RouterDefects() {
  using Mutation = MutatedRouter::Mutation;
  return MutatedFormulas<MutatedRouter, &MutatedRouter::mutation, Wrapped<MutatedRouter, false>>({
      {"bias_ignored", "experts are chosen by scores without bias", Mutation::kWithoutBias},
      {"chosen_in_bf16", "experts are chosen by numbers in bf16", Mutation::kBF16},
      {"groups_without_bias", "groups are chosen by scores without bias",
       Mutation::kGroupsWithoutBias},
      {"groups_by_sum", "groups are chosen by the sum of all their experts",
       Mutation::kGroupByMean},
      {"groups_interleaved", "expert e is in group e mod groups, not floor(e / (E / groups))",
       Mutation::kGroupsOfEach},
      {"masked_with_zero",
       "the experts of other groups have the number 0, not -infinity, so that one is chosen where "
       "biases make the others negative",
       Mutation::kMaskedWithZero},
      {"experts_of_first_token", "every token has the experts and weights of the first",
       Mutation::kFirstToken, true},
      {"groups_ignored", "experts are chosen from all groups", Mutation::kMaskedGroupsLost},
      {"index_in_group", "an index is counted within its group", Mutation::kInGroup},
      {"index_off_by_one", "indices are counted from 1", Mutation::kFromOne},
      {"biased_weights", "the weights are those of scores with bias", Mutation::kBiased},
      {"weights_sorted_apart",
       "the weights are sorted, the indices stay in the order of biased scores",
       Mutation::kSortedApart},
      {"normalised_over_all", "weights are divided by the sum of all scores", Mutation::kOverAll},
      {"weighted_twice", "weights are renormalised and scaled twice", Mutation::kTwice},
      {"scaled_only_if_renormalised",
       "without renormalisation the weights are not scaled (sgl-project/sglang#31449)",
       Mutation::kScaledTogether},
      {"scores_of_chosen", "the softmax is that of the chosen logits alone",
       Mutation::kSoftmaxOfChosen},
  });
}

}  // namespace

template <>
CatalogEntry MakeCatalogEntry<Router>() {
  return {
      .properties = {{"total", "renormalised weights sum up to scale", CheckTotal},
                     {"different", "no expert is chosen twice", CheckDifferent},
                     {"reversed", "experts in reversed order keep their weights", CheckReversed}},
      .defects = RouterDefects()};
}

}  // namespace sextant::oracle
