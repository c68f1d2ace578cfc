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

// The number of a group. An implementation may find other members to be its best: the sum of the
// `count` largest numbers moves by at most that many times the largest of their errors.
template <class Real>
Real OfAnyMember(const Real& number, const Ranked<Real>&, const Indices&, size_t) {
  return number;
}
template <>
Counted OfAnyMember(const Counted& number, const Ranked<Counted>& experts, const Indices& members,
                    size_t count) {
  Counted::Bounds most;
  for (const size_t member : members) {
    most.worst = std::max(most.worst, experts[member].error());
    most.likely = std::max(most.likely, experts[member].likely());
  }
  const auto times = static_cast<double>(count);
  return number.WithError(
      {number.error() + times * most.worst, number.likely() + times * most.likely});
}

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
    token.groups.Add(OfAnyMember(number, token.experts, token.ExpertsOf(g), best.size()),
                     std::move(key));
  }
  return token;
}

// Whether a is better than b by more than the recipe permits both to err.
bool Exceeds(const Ranked<Counted>& all, size_t a, size_t b) {
  if (all.AreEqual(a, b)) return false;
  const Counted difference = PlusDifference(0, all[a], all[b]);
  return difference.center().high * (1 - 0x1p-50) > difference.error() + difference.drift();
}

// An answered choice: its experts, and by how much each slot is exceeded by what was left out. The
// groups from which experts were chosen are those of the answered ones and the best others.
template <class Real>
class AnsweredChoice {
 public:
  AnsweredChoice(const Router& op, const Token<Real>& token, std::span<const double> answered)
      : op_(op), token_(token), answered_(answered), is_chosen_(token.scores.size()) {
    for (const double index : answered) {
      const bool exists = index >= 0 && index < static_cast<double>(token.scores.size()) &&
                          index == std::floor(index);
      const auto expert = exists ? static_cast<size_t>(index) : 0;
      const bool is_new = exists && !is_chosen_[expert];
      experts_.push_back(is_new ? std::optional(expert) : std::nullopt);
      if (is_new) is_chosen_[expert] = true;
    }
    SetGroups();
    if constexpr (std::same_as<Real, Counted>) is_permitted_ = IsPermitted();
  }
  const std::vector<std::optional<size_t>>& experts() const { return experts_; }

  // The index that is expected in slot k: the answered one plus its excess. The error of Counted is
  // at least the excess if the recipe permits the choice, also of other groups, or this slot.
  Real Expected(size_t k) const {
    constexpr double kNone = 0x1p60;  // of a number that is no index, or one for the second time
    if (!experts_[k] || !Contains(own_, GroupOf(*experts_[k])))
      return Real((std::isfinite(answered_[k]) ? answered_[k] : 0) + kNone);
    const size_t expert = *experts_[k], group = GroupOf(expert);
    struct Excess {
      Real better, worse;
      std::pair<typename Ranked<Real>::Key, typename Ranked<Real>::Key> keys;
      Real Difference() const { return PlusDifference(0, better, worse); }
    };
    std::optional<Excess> most;
    const auto consider = [&](const Ranked<Real>& all, std::optional<size_t> better, size_t worse) {
      if (!better || !all.IsAbove(*better, worse)) return;
      Excess other{all[*better], all[worse], {all.KeyOf(*better), all.KeyOf(worse)}};
      if (!most || (most->keys != other.keys && IsBelow(most->Difference(), other.Difference())))
        most = std::move(other);
    };
    consider(token_.groups, rival_, group);
    consider(token_.experts, BestLeftOut(), expert);
    if (!most) return Real(answered_[k]);
    const Real expected = PlusDifference(answered_[k], most->better, most->worse);
    if constexpr (std::same_as<Real, Counted>) return WithPermission(expected, k);
    return expected;
  }

 private:
  static bool Contains(const Indices& groups, size_t group) {
    return std::ranges::find(groups, group) != groups.end();
  }
  size_t GroupOf(size_t expert) const { return expert / token_.group_size; }

  void SetGroups() {
    std::set<size_t> occupied;
    for (const auto& expert : experts_)
      if (expert) occupied.insert(GroupOf(*expert));
    own_ = token_.groups.Largest({occupied.begin(), occupied.end()}, op_.ChosenGroups());
    for (size_t g = 0; g < token_.groups.size(); ++g)
      if (!occupied.contains(g)) others_.push_back(g);
    others_ = token_.groups.Largest(std::move(others_), token_.groups.size());
    places_ = std::min(op_.ChosenGroups() - own_.size(), others_.size());
    if (others_.size() > places_) rival_ = others_[places_];
  }
  // Experts of these groups that were not chosen.
  Indices LeftOutIn(const Indices& groups) const {
    Indices left = token_.ExpertsOf(groups);
    std::erase_if(left, [this](size_t expert) { return is_chosen_[expert]; });
    return left;
  }
  Indices ChosenGroups() const {
    Indices groups = own_;
    groups.insert(groups.end(), others_.begin(), others_.begin() + static_cast<ptrdiff_t>(places_));
    return groups;
  }
  std::optional<size_t> BestLeftOut() const {
    const Indices best = token_.experts.Largest(LeftOutIn(ChosenGroups()), 1);
    return best.empty() ? std::nullopt : std::optional(best[0]);
  }

  // Whether there are groups, those of the answered experts among them, of which no other group and
  // no expert that was left out exceeds what was chosen. A group may be one of them if none of its
  // experts exceeds a chosen one and all groups that exceed it may be; what exceeds one of them
  // must be. What exceeds another is before it in the order.
  bool IsPermitted() const {
    const auto exceeds_chosen = [this](size_t group) {
      return std::ranges::any_of(LeftOutIn({group}), [this](size_t left) {
        return std::ranges::any_of(experts_, [&](const std::optional<size_t>& expert) {
          return expert && Exceeds(token_.experts, left, *expert);
        });
      });
    };
    const auto exceeds = [this](size_t group, const Indices& any) {
      return std::ranges::any_of(
          any, [&](size_t other) { return Exceeds(token_.groups, group, other); });
    };
    if (std::ranges::any_of(own_, exceeds_chosen)) return false;
    Indices may_be, must_be;
    for (const size_t group : others_) {
      const bool may = !exceeds_chosen(group) && std::ranges::all_of(others_, [&](size_t other) {
        return !Exceeds(token_.groups, other, group) || Contains(may_be, other);
      });
      if (may) may_be.push_back(group);
    }
    for (auto group = others_.rbegin(); group != others_.rend(); ++group)
      if (exceeds(*group, own_) || exceeds(*group, must_be)) must_be.push_back(*group);
    return may_be.size() >= places_ && must_be.size() <= places_ &&
           std::ranges::all_of(must_be, [&](size_t group) { return Contains(may_be, group); });
  }
  Counted WithPermission(const Counted& expected, size_t k) const {
    const size_t expert = *experts_[k];
    std::optional<Counted> violated;  // the difference that the recipe does not permit
    const auto consider = [&](const Ranked<Counted>& all, size_t better, size_t worse) {
      if (!violated && Exceeds(all, better, worse))
        violated = PlusDifference(0, all[better], all[worse]);
    };
    if (!is_permitted_) {
      if (rival_) consider(token_.groups, *rival_, GroupOf(expert));
      for (const size_t left : LeftOutIn(ChosenGroups())) consider(token_.experts, left, expert);
    }
    if (violated) return expected.WithError({violated->error(), violated->likely()});
    const double excess = (expected.center().high - answered_[k]) + expected.center().low;
    const double enough = excess * (1 + 0x1p-50) + expected.drift();
    return expected.WithError(
        {std::max(expected.error(), enough), std::max(expected.likely(), enough)});
  }

  const Router& op_;
  const Token<Real>& token_;
  const std::span<const double> answered_;
  std::vector<bool> is_chosen_;
  std::vector<std::optional<size_t>> experts_;  // of each slot
  // Groups: of the answered experts, and the others, of which the first `places_` are chosen too,
  // the best first; the best that is left out.
  Indices own_, others_;
  size_t places_ = 0;
  std::optional<size_t> rival_;
  bool is_permitted_ = true;
};

// The errors of a choice without an answer: where the recipe permits to exchange experts or groups,
// an index may be any, and the weights are those of other experts. Equal experts have equal
// weights.
void PermitExchanges(const Token<Counted>& token, const Indices& chosen, std::span<Counted> indices,
                     std::span<Counted> weights) {
  const size_t E = token.scores.size();
  const auto may_exchange = [](const Ranked<Counted>& all, size_t a, size_t b) {
    return a != b && !Exceeds(all, a, b) && !Exceeds(all, b, a);
  };
  bool any_expert = false, any_weight = false;
  for (size_t a = 0; a < token.groups.size(); ++a)
    for (size_t b = 0; b < a; ++b) any_weight |= may_exchange(token.groups, a, b);
  for (const size_t expert : chosen) {
    for (size_t e = 0; e < E; ++e) {
      if (!may_exchange(token.experts, e, expert)) continue;
      any_expert = true;
      any_weight |= !token.experts.AreEqual(e, expert);
    }
  }
  if (any_expert || any_weight) {
    const auto farthest = static_cast<double>(E - 1);
    for (Counted& index : indices) index = index.WithError({farthest, farthest});
  }
  if (any_weight)
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
    const AnsweredChoice<Real> choice(op, token, *answered);
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
    if (!answered) PermitExchanges(token, chosen, indices, weights);
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
