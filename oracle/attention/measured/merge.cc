#include "oracle/attention/measured/merge.h"

#include <memory>
#include <span>

#include "oracle/attention/arg_max_score.h"
#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/diagnosis/choices.h"
#include "oracle/diagnosis/input/input_changes.h"
#include "reference/attention/attention_merge.h"
#include "reference/attention/empty_log_sum_exp.h"
#include "reference/attention/softmax_row.h"

namespace sextant::oracle {
namespace {

// The weights of both parts before they are divided by their sum: a = e^(lse1 - largest), b the
// same of lse2.
enum class MergeWeights {
  kRight,
  kExchanged,       // b, a
  kEqual,           // 1, 1
  kOfLse,           // lse1, lse2
  kOfMagnitudes,    // |lse1|, |lse2|
  kFirstAlone,      // 1, 0
  kSecondAlone,     // 0, 1
  kLargerAlone,     // 1 for the larger lse, 0 for the other
  kSmallerAlone,    // the other way round
  kFirstUnscaled,   // 1, b
  kSecondUnscaled,  // a, 1
  kLogarithms,      // lse1 - largest, lse2 - largest
  kBase2,           // 2^(lse1 - largest), 2^(lse2 - largest)
  kSquared,         // a^2, b^2
};
constexpr const char* kWeightTexts[] = {
    "",
    "the weights are exchanged: each part has that of the other",
    "both parts have the same weight",
    "the weights are lse1 and lse2, expected e^lse1 and e^lse2",
    "the weights are |lse1| and |lse2|, expected e^lse1 and e^lse2",
    "the first part has all the weight",
    "the second part has all the weight",
    "the part with the larger lse has all the weight",
    "the part with the smaller lse has all the weight",
    "the weight of the first part is e^0, not rescaled by e^(lse1 - largest)",
    "the weight of the second part is e^0, not rescaled by e^(lse2 - largest)",
    "the weights are lse1 and lse2 less the larger one, without the exponential",
    "the weights have the base 2, expected e",
    "the weights are squared",
};
// Whether the sum of these weights gives another lse: it may be negative, or the right one.
bool HaveOwnLse(MergeWeights weights) {
  return weights != MergeWeights::kOfLse && weights != MergeWeights::kLogarithms &&
         weights != MergeWeights::kExchanged;
}

enum class MergeLse {
  kRight,
  kLarger,
  kSmaller,
  kFirst,
  kSecond,
  kAdded,
  kMean,
  kUnscaled,
  kBase2
};
constexpr const char* kLseTexts[] = {
    "",
    "lse is the larger of lse1 and lse2",
    "lse is the smaller of lse1 and lse2",
    "lse is lse1",
    "lse is lse2",
    "lse is lse1 + lse2",
    "lse is the mean of lse1 and lse2",
    "lse lacks the larger of lse1 and lse2: the logarithm of the sum relative to it",
    "lse is a logarithm to base 2: multiplied by 1.442695 = log2(e)",
};

// Whether nothing of the sum of the weights is left in it.
bool Replaces(MergeLse lse) {
  return lse != MergeLse::kRight && lse != MergeLse::kUnscaled && lse != MergeLse::kBase2;
}

struct MergeByParts : AttentionMerge {
  MergeWeights weights = MergeWeights::kRight;
  MergeLse lse_is = MergeLse::kRight;
  bool divides = true;
  bool lse_follows = false;  // lse is that of the sum of these weights

  // Rows in which a part has no keys are right.
  template <class Real>
  void operator()(const Tensor<Real>& y1, const Tensor<Real>& lse1, const Tensor<Real>& y2,
                  const Tensor<Real>& lse2, Tensor<Real>& y, Tensor<Real>& lse) const {
    AttentionMerge::operator()(y1, lse1, y2, lse2, y, lse);
    for (size_t n = 0; n < y.shape[0]; ++n) {
      if (IsEmptyLogSumExp(lse1(n)) || IsEmptyLogSumExp(lse2(n))) continue;
      const std::vector<Real> scores = {lse1(n), lse2(n)};
      SetLse(scores, lse(n));
      if (weights == MergeWeights::kRight && divides) continue;
      const std::vector<Real> both = WeightsOf(scores);
      for (size_t e = 0; e < y.shape[1]; ++e)
        y(n, e) = Dot<Real>(both, std::vector<Real>{y1(n, e), y2(n, e)});
    }
  }

 private:
  template <class Real>
  void SetLse(const std::vector<Real>& scores, Real& lse) const {
    const ScopedStep at(Step::kSoftmax);
    const size_t larger = ArgMaxScore<Real>(scores);
    if (lse_follows) {
      const std::vector<Real> terms = TermsOf(scores);
      lse = scores[larger] + Log(terms[0] + terms[1]);
    }
    switch (lse_is) {
      case MergeLse::kRight:
        return;
      case MergeLse::kLarger:
        lse = scores[larger];
        return;
      case MergeLse::kSmaller:
        lse = scores[1 - larger];
        return;
      case MergeLse::kFirst:
        lse = scores[0];
        return;
      case MergeLse::kSecond:
        lse = scores[1];
        return;
      case MergeLse::kAdded:
        lse = scores[0] + scores[1];
        return;
      case MergeLse::kMean:
        lse = (scores[0] + scores[1]) * Real(0.5);
        return;
      case MergeLse::kUnscaled:
        lse = lse - scores[larger];
        return;
      case MergeLse::kBase2:
        lse = lse / Log(Real(2.0));
        return;
    }
  }

  // Before the division.
  template <class Real>
  std::vector<Real> TermsOf(const std::vector<Real>& scores) const {
    const size_t larger = ArgMaxScore<Real>(scores);
    const Real one(1.0), none(0.0);
    const std::vector<Real> logarithms = {scores[0] - scores[larger], scores[1] - scores[larger]};
    std::vector<Real> right = {Exp(logarithms[0]), Exp(logarithms[1])};
    switch (weights) {
      case MergeWeights::kRight:
        return right;
      case MergeWeights::kExchanged:
        return {right[1], right[0]};
      case MergeWeights::kEqual:
        return {one, one};
      case MergeWeights::kOfLse:
        return scores;
      case MergeWeights::kOfMagnitudes:
        return {Magnitude(scores[0]), Magnitude(scores[1])};
      case MergeWeights::kFirstAlone:
        return {one, none};
      case MergeWeights::kSecondAlone:
        return {none, one};
      case MergeWeights::kLargerAlone:
        return {larger == 0 ? one : none, larger == 0 ? none : one};
      case MergeWeights::kSmallerAlone:
        return {larger == 0 ? none : one, larger == 0 ? one : none};
      case MergeWeights::kFirstUnscaled:
        return {one, right[1]};
      case MergeWeights::kSecondUnscaled:
        return {right[0], one};
      case MergeWeights::kLogarithms:
        return logarithms;
      case MergeWeights::kSquared:
        return {right[0] * right[0], right[1] * right[1]};
      case MergeWeights::kBase2: {
        const Real ln2 = Log(Real(2.0));
        return {Exp(logarithms[0] * ln2), Exp(logarithms[1] * ln2)};
      }
    }
    return right;
  }
  template <class Real>
  static Real Magnitude(const Real& x) {
    const std::vector<Real> both = {x, -x};
    return both[ArgMaxScore<Real>(both)];
  }

  template <class Real>
  std::vector<Real> WeightsOf(const std::vector<Real>& scores) const {
    std::vector<Real> terms;
    {
      const ScopedStep at(Step::kSoftmax);
      terms = TermsOf(scores);
      const Real sum = terms[0] + terms[1];
      if (divides) terms = {terms[0] / sum, terms[1] / sum};
    }
    const ScopedStep at(Step::kWeigh);
    return {Converted(terms[0]), Converted(terms[1])};
  }
};

std::vector<Choice> OtherLse() {
  std::vector<Choice> choices;
  for (size_t i = 1; i < std::size(kLseTexts); ++i) {
    const auto lse = static_cast<MergeLse>(i);
    choices.push_back({kLseTexts[i], [=](const Hypothesis& base) -> std::optional<Hypothesis> {
                         if (Replaces(lse) && OpOf<MergeByParts>(base).lse_follows)
                           return std::nullopt;
                         return Edited<MergeByParts>(
                             base, [=](MergeByParts& merge) { merge.lse_is = lse; });
                       }});
  }
  return choices;
}

// First without another lse, then with that of their sum.
std::vector<Choice> OtherWeights() {
  std::vector<Choice> choices;
  for (const bool follows : {false, true}) {
    for (size_t i = 1; i < std::size(kWeightTexts); ++i) {
      const auto weights = static_cast<MergeWeights>(i);
      if (follows && !HaveOwnLse(weights)) continue;
      choices.push_back(
          {std::string(kWeightTexts[i]) + (follows ? ", and lse is that of their sum" : ""),
           [=](const Hypothesis& base) -> std::optional<Hypothesis> {
             if (follows && Replaces(OpOf<MergeByParts>(base).lse_is)) return std::nullopt;
             return Edited<MergeByParts>(base, [=](MergeByParts& merge) {
               merge.weights = weights;
               merge.lse_follows = follows;
             });
           }});
    }
  }
  return choices;
}

// Both lse with a factor, as if they were logarithms to another base.
Deviation BothMultiplied(const Tensors& inputs) {
  Deviation both = InputFactor(inputs, "lse1", "lse1 and lse2 are multiplied by");
  both.name = "both_lse_multiplied";
  const auto first = both.changed;
  const auto second = InputFactor(inputs, "lse2", "").changed;
  both.changed = [=](const Hypothesis& base, double factor) {
    return second(*first(base, factor), factor);
  };
  return both;
}

}  // namespace

std::vector<Explanation> MeasureMerge(const Observation& seen) {
  const auto operation = std::make_shared<Wrapped<MergeByParts, false>>();
  CopyAttributes(seen.c, *operation);
  return FittedTo(
      seen, {operation, SharedInputs::Of(seen.inputs), seen.recipe},
      Joined<Deviation>(
          {{OneOf("lse_changed", "lse", OtherLse()),
            OneOf("not_divided", "division",
                  {Edit<MergeByParts>(
                      "the weighted sum of the parts is not divided by the sum of the weights",
                      [](MergeByParts& merge) { merge.divides = false; })}),
            OneOf("weights_changed", "weights", OtherWeights()), BothMultiplied(seen.inputs),
            InputFactor(seen.inputs, "lse1", "lse1 is multiplied by"),
            InputFactor(seen.inputs, "lse2", "lse2 is multiplied by")},
           InputChanges(seen.c, seen.inputs)}));
}

}  // namespace sextant::oracle
