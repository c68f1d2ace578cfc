#include "reference/block/router.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "reference/attention/softmax_row.h"
#include "reference/base/error.h"
#include "reference/block/ranked.h"
#include "reference/case/call.h"
#include "reference/case/intermediate.h"
#include "reference/case/operation.h"
#include "reference/number/value_of.h"

namespace sextant {
template <class Real>
std::vector<Real> Router::Scores(std::span<const Real> logits) const {
  if (score == RouterScore::kSoftmax) return SoftmaxRow<Real>(logits).weights();
  const ScopedStep at(Step::kActivation);
  std::vector<Real> scores;
  for (const Real& logit : logits) scores.push_back(Sigmoid(logit));
  return scores;
}

template <class Real>
std::vector<Real> Router::Weights(std::vector<Real> chosen) const {
  std::optional<Real> sum;
  if (const BySum* const by_sum = std::get_if<BySum>(&renormalise)) {
    const ScopedStep at(Step::kSum);
    sum = SumOf(chosen);
    if (by_sum->eps > 0) sum = *sum + Converted(Real(by_sum->eps));
  }
  const ScopedStep at(Step::kScale);
  for (Real& weight : chosen) {
    if (sum) weight = weight / *sum;
    if (scale != 1) weight = weight * Real(scale);
  }
  return chosen;
}

namespace {

using Indices = std::vector<size_t>;

// One token: its experts' scores, and what they are chosen by.
template <class Real>
struct Token {
  std::vector<Real> scores;
  Ranked<Real> experts, groups;  // by score + bias
  size_t group_size = 1;

  Indices ExpertsOf(size_t group) const {
    Indices experts_of(group_size);
    for (size_t i = 0; i < group_size; ++i) experts_of[i] = group * group_size + i;
    return experts_of;
  }
  Indices ExpertsOf(const Indices& some_groups) const {
    Indices all;
    for (const size_t group : some_groups)
      for (const size_t expert : ExpertsOf(group)) all.push_back(expert);
    return all;
  }
};

template <class Real>
Token<Real> TokenOf(const Router& op, std::span<const Real> logits, const Tensor<Real>* bias) {
  Token<Real> token;
  token.scores = op.Scores(logits);
  const ScopedStep at(Step::kBias);
  for (size_t e = 0; e < logits.size(); ++e) {
    if (bias) {
      token.experts.Add(token.scores[e] + (*bias)(e), {ValueOf(logits[e]), ValueOf((*bias)(e))});
    } else {
      token.experts.Add(token.scores[e], {ValueOf(logits[e])});
    }
  }
  const size_t groups = op.GroupCount();
  token.group_size = logits.size() / groups;
  if (groups == 1) {
    token.groups.Add(Real(0.0), {});
    return token;
  }
  for (size_t g = 0; g < groups; ++g) {
    const Indices best = token.experts.Largest(token.ExpertsOf(g), op.BestOfGroup());
    Real number = token.experts[best[0]];
    auto key = token.experts.KeyOf(best[0]);
    if (best.size() == 2) {
      number = number + token.experts[best[1]];
      for (const double part : token.experts.KeyOf(best[1])) key.push_back(part);
    }
    token.groups.Add(std::move(number), std::move(key));
  }
  return token;
}

// What is right about a choice: its experts, and by how much each slot is worse than an expert that
// was left out.
template <class Real>
class Choice {
 public:
  Choice(const Router& op, const Token<Real>& token, std::span<const double> answered)
      : op_(op), token_(token), answered_(answered), is_chosen_(token.scores.size()) {
    for (const double index : answered) {
      const bool exists = index >= 0 && index < static_cast<double>(token.scores.size()) &&
                          index == std::floor(index);
      const auto expert = exists ? static_cast<size_t>(index) : 0;
      const bool is_new = exists && !is_chosen_[expert];
      experts_.push_back(is_new ? std::optional(expert) : std::nullopt);
      if (!is_new) continue;
      is_chosen_[expert] = true;
      occupied_.insert(expert / token.group_size);
    }
    SetGroups();
  }
  const std::vector<std::optional<size_t>>& experts() const { return experts_; }

  // The index that is expected in slot k: the answered one, plus how much better an expert or a
  // group is that was left out.
  Real Expected(size_t k) const {
    constexpr double kNone = 0x1p60;  // of a number that is no index, or one for the second time
    if (!experts_[k] || !allowed_.contains(*experts_[k] / token_.group_size))
      return Real((std::isfinite(answered_[k]) ? answered_[k] : 0) + kNone);
    const size_t expert = *experts_[k];
    std::optional<Excess> most;
    const auto consider = [&](const std::optional<Excess>& other) {
      if (other && (!most || IsBelow(most->Difference(), other->Difference()))) most = other;
    };
    consider(Over(token_.groups, rival_group_, expert / token_.group_size));
    consider(
        Over(token_.experts, BestLeftOut(Indices(occupied_.begin(), occupied_.end())), expert));
    for (size_t i = 0; i < free_.size(); ++i) {
      std::optional<Excess> excess = Over(token_.experts, BestLeftOut({free_[i]}), expert);
      if (excess && next_group_) {  // the group itself may be left out
        const auto of_group = Over(token_.groups, free_[i], *next_group_);
        if (!of_group) continue;
        if (IsBelow(of_group->Difference(), excess->Difference())) excess = of_group;
      }
      consider(excess);
    }
    return most ? PlusDifference(answered_[k], most->above, most->below) : Real(answered_[k]);
  }

 private:
  struct Excess {
    Real above, below;
    Real Difference() const { return PlusDifference(0, above, below); }
  };
  static std::optional<Excess> Over(const Ranked<Real>& all, std::optional<size_t> rival,
                                    size_t chosen) {
    if (!rival || !all.IsAbove(*rival, chosen)) return std::nullopt;
    return Excess{all[*rival], all[chosen]};
  }

  // The groups of the chosen experts, and the best others: as many as there may be.
  void SetGroups() {
    const size_t most = op_.ChosenGroups();
    const Indices own = token_.groups.Largest({occupied_.begin(), occupied_.end()}, most);
    allowed_.insert(own.begin(), own.end());
    Indices others;
    for (size_t g = 0; g < token_.groups.size(); ++g)
      if (!occupied_.contains(g)) others.push_back(g);
    others = token_.groups.Largest(std::move(others), most - own.size() + 1);
    // A group of the chosen experts is right unless so many others are better that it has no place.
    const size_t places = most - own.size();
    if (others.size() > places) {
      next_group_ = rival_group_ = others.back();
      others.pop_back();
    }
    free_ = std::move(others);
  }
  std::optional<size_t> BestLeftOut(const Indices& groups) const {
    Indices left = token_.ExpertsOf(groups);
    std::erase_if(left, [this](size_t expert) { return is_chosen_[expert]; });
    left = token_.experts.Largest(std::move(left), 1);
    return left.empty() ? std::nullopt : std::optional(left[0]);
  }

  const Router& op_;
  const Token<Real>& token_;
  const std::span<const double> answered_;
  std::vector<bool> is_chosen_;
  std::vector<std::optional<size_t>> experts_;  // of each slot
  std::set<size_t> occupied_, allowed_;         // groups
  Indices free_;                                // groups of which no expert was chosen
  // The best group that is left out: of it a chosen group must not be worse, and only what is
  // better than it is certain to be chosen.
  std::optional<size_t> rival_group_, next_group_;
};

// Whether an implementation may exchange the two.
bool MayExchange(const Ranked<Counted>& all, size_t a, size_t b) {
  if (all.AreEqual(a, b)) return false;
  const Counted difference = PlusDifference(0, all[a], all[b]);
  return std::abs(difference.center().high) * (1 - 0x1p-50) <=
         difference.error() + difference.drift();
}

// The errors of a choice without an answer: an index may be that of each expert with which the
// recipe permits to exchange it. With a bias their weights differ.
void PermitExchanges(const Router& op, const Token<Counted>& token, const Indices& chosen,
                     std::span<Counted> indices, std::span<Counted> weights) {
  bool is_contested = false;
  const size_t E = token.scores.size();
  for (size_t a = 0; a < token.groups.size(); ++a)
    for (size_t b = 0; b < a; ++b) is_contested |= MayExchange(token.groups, a, b);
  if (token.groups.size() > 1 && is_contested) {
    for (Counted& index : indices) index = index.WithError({static_cast<double>(E), 0});
  } else {
    for (size_t k = 0; k < chosen.size(); ++k) {
      double error = 0;
      for (size_t e = 0; e < E; ++e) {
        const bool is_equal = token.experts.AreEqual(e, chosen[k]);
        if (!is_equal && !MayExchange(token.experts, e, chosen[k])) continue;
        is_contested |= !is_equal;
        const double other = static_cast<double>(e), own = static_cast<double>(chosen[k]);
        error = std::max(error, std::abs(other - own));
      }
      indices[k] = indices[k].WithError({error, error});
    }
  }
  if (!is_contested || !op.with.Has("bias")) return;
  for (Counted& weight : weights) weight = weight.WithError({kInfinity, kInfinity});
}

// Of one token; a NaN or an infinity in its logits or biases leaves all unspecified.
template <class Real>
void Route(const Router& op, std::span<const Real> logits, const Tensor<Real>* bias,
           std::optional<std::span<const double>> answered, std::span<Real> indices,
           std::span<Real> weights) {
  const auto is_finite = [](const Real& x) { return std::isfinite(ValueOf(x)); };
  std::ranges::fill(indices, Unspecified<Real>());
  std::ranges::fill(weights, Unspecified<Real>());
  if (!std::ranges::all_of(logits, is_finite)) return;
  if (bias && !std::ranges::all_of(bias->data, is_finite)) return;
  const Token<Real> token = TokenOf(op, logits, bias);
  Indices chosen;
  if (answered) {
    const Choice<Real> choice(op, token, *answered);
    for (size_t k = 0; k < indices.size(); ++k) indices[k] = choice.Expected(k);
    for (const auto& expert : choice.experts()) {
      if (!expert) return;  // without an expert there are no weights
      chosen.push_back(*expert);
    }
  } else {
    const Indices groups = token.groups.Largest(op.ChosenGroups());
    chosen = token.experts.Largest(token.ExpertsOf(groups), indices.size());
    for (size_t k = 0; k < indices.size(); ++k)
      indices[k] = Real(static_cast<double>(chosen[k]), DType::kI64);
  }
  std::vector<Real> scores;
  for (const size_t expert : chosen) scores.push_back(token.scores[expert]);
  std::ranges::copy(op.Weights(std::move(scores)), weights.begin());
  if constexpr (std::same_as<Real, Counted>)
    if (!answered) PermitExchanges(op, token, chosen, indices, weights);
}

}  // namespace

std::string PrintValue(const ExpertGroups& groups) { return PrintValue<>(groups); }
void ParseValue(std::string_view text, ExpertGroups& groups) { ParseValue<>(text, groups); }
std::span<const std::string> PossibleValues(const ExpertGroups& groups) {
  return PossibleValues<>(groups);
}
std::string PrintValue(const Renormalisation& renormalise) { return PrintValue<>(renormalise); }
void ParseValue(std::string_view text, Renormalisation& renormalise) {
  ParseValue<>(text, renormalise);
}
std::span<const std::string> PossibleValues(const Renormalisation& renormalise) {
  return PossibleValues<>(renormalise);
}

GroupLimits Router::Limits() const {
  if (const auto* const top2 = std::get_if<Top2Groups>(&groups)) return *top2;
  if (const auto* const max = std::get_if<MaxGroups>(&groups)) return *max;
  return {};
}

void Router::Check() const {
  const auto [n_group, topk_group] = Limits();
  if (E.value < 1) throw Error("router: E=", E.value, ", expected 1 or more experts");
  if (n_group < 1 || E.value % n_group != 0)
    throw Error("router: n_group=", n_group, ", expected a divisor of E=", E.value);
  const int64_t size = E.value / n_group, best = static_cast<int64_t>(BestOfGroup());
  if (topk_group < 1 || topk_group > n_group)
    throw Error("router: topk_group=", topk_group, ", expected 1 to n_group=", n_group);
  if (size < best)
    throw Error("router: n_group=", n_group, " leaves a group ", size, " expert, expected ", best,
                " or more for groups=top2");
  if (K.value < 1 || K.value > topk_group * size)
    throw Error("router: K=", K.value, ", expected 1 to ", topk_group * size,
                ", as many experts as can be chosen from");
  const BySum* const by_sum = std::get_if<BySum>(&renormalise);
  if (by_sum && !(by_sum->eps >= 0 && std::isfinite(by_sum->eps)))
    throw Error("router: eps=", PrintValue(by_sum->eps), ", expected 0 or more");
  if (!(scale > 0 && std::isfinite(scale)))
    throw Error("router: scale=", PrintValue(scale), ", expected a number above 0");
}

template <class Real>
void Router::operator()(const Tensor<Real>& logits, const Tensor<Real>* bias, Tensor<Real>& indices,
                        Tensor<Real>& weights) const {
  const size_t N = logits.shape[0], experts = logits.shape[1], slots = indices.shape[1];
  const NamedTensor* const answer = ScopedOutputs::AnswerFor(&indices);
  for (size_t n = 0; n < N; ++n) {
    std::optional<std::span<const double>> answered;
    if (answer) answered = std::span(answer->values.data).subspan(n * slots, slots);
    Route(*this, std::span(logits.data).subspan(n * experts, experts), bias, answered,
          std::span(indices.data).subspan(n * slots, slots),
          std::span(weights.data).subspan(n * slots, slots));
  }
}

template std::vector<Counted> Router::Scores(std::span<const Counted>) const;
template std::vector<Rounded> Router::Scores(std::span<const Rounded>) const;
template std::vector<Counted> Router::Weights(std::vector<Counted>) const;
template std::vector<Rounded> Router::Weights(std::vector<Rounded>) const;

template <>
std::unique_ptr<Operation> MakeOperation<Router>() {
  return Wrap<Router>();
}

}  // namespace sextant
