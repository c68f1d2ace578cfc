// The router of a mixture of experts: which experts each token gets, and with which weights.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "reference/case/attribute.h"
#include "reference/case/optional_inputs.h"
#include "reference/number/tensor/tensor.h"

namespace sextant {

enum class RouterScore { kSoftmax, kSigmoid };
constexpr std::array<std::string_view, 2> NamesOf(RouterScore) { return {"softmax", "sigmoid"}; }

// Experts are in n_group groups of neighbours, and chosen from topk_group of these: those with the
// largest sum of their two largest numbers, or with the largest number.
struct NoGroups {
  static constexpr std::string_view kName = "none";
  void Visit(auto&&) {}
};
struct GroupLimits {
  int64_t n_group = 1, topk_group = 1;
  void Visit(auto&& v) {
    v("n_group", n_group, kRequired);
    v("topk_group", topk_group, kRequired);
  }
};
struct Top2Groups : GroupLimits {
  static constexpr std::string_view kName = "top2";
};
struct MaxGroups : GroupLimits {
  static constexpr std::string_view kName = "max";
};
using ExpertGroups = std::variant<NoGroups, Top2Groups, MaxGroups>;

// Whether the weights of a token are divided by their sum.
struct NotRenormalised {
  static constexpr std::string_view kName = "none";
  void Visit(auto&&) {}
};
struct BySum {
  static constexpr std::string_view kName = "sum";
  double eps = 0;
  void Visit(auto&& v) { v("eps", eps); }
};
using Renormalisation = std::variant<BySum, NotRenormalised>;

// As text: "top2(n_group=8,topk_group=4)", "sum(eps=0)" (reference/case/call.h).
std::string PrintValue(const ExpertGroups& groups);
void ParseValue(std::string_view text, ExpertGroups& groups);
std::span<const std::string> PossibleValues(const ExpertGroups& groups);
std::string PrintValue(const Renormalisation& renormalise);
void ParseValue(std::string_view text, Renormalisation& renormalise);
std::span<const std::string> PossibleValues(const Renormalisation& renormalise);

struct Router {
  static constexpr std::string_view kName = "router";
  static constexpr std::string_view kSignature =
      "logits[N,E] bias:wide?[E] -> indices:choice[N,K] weights:wide[N,K]";
  static constexpr std::string_view kSlices = "N";
  static constexpr std::string_view kSteps = "softmax activation bias sum scale";
  static constexpr std::string_view kDraw = "logits=normal(2) bias=normal(0.2)";
  static constexpr std::string_view kChoices =
      "score=softmax|sigmoid with=|bias "
      "groups=none|top2(n_group=4,topk_group=2)|top2(n_group=2,topk_group=1)|"
      "max(n_group=4,topk_group=2)|max(n_group=2,topk_group=1) "
      "renormalise=sum(eps=0)|sum(eps=1e-20)|none scale=1|2.5 N=3|1|5 E=8|16|64 K=2|1|4";
  static constexpr std::string_view kFormula =
      R"(s = softmax of a row of logits, or 1 / (1 + e^-logits) of each;  b = s + bias
indices  the K experts with the largest b, in any order, of equal ones any
weights  scale w_k,  w_k = s[indices_k], with renormalise=sum w_k / (w_1 + ... + w_K + eps)
  logits   [N,E]  a row with a NaN or an infinity has no specified answer
  bias     [E]    0 without with=bias; for the choice alone
  indices  [N,K]  from 0; different ones
  groups=  experts are in n_group groups of neighbours, and chosen from topk_group of these: top2:
           those with the largest sum of their two largest b, max: with the largest b
An index is a choice: it is right unless an expert that was left out is better by more than the
recipe permits both numbers to err. Weights are those of the indices that were answered.)";
  static constexpr std::string_view kSource =
      "softmax: Jiang et al. 2024, arXiv:2401.04088, section 2.1; its renormalisation: "
      "huggingface/transformers modeling_qwen3_moe.py (norm_topk_prob); sigmoid, bias, top2 "
      "(groups "
      "on nodes, by the sum of the highest scores): DeepSeek-AI 2024, arXiv:2412.19437, section "
      "2.1.2; eps=1e-20, scale: huggingface/transformers modeling_deepseek_v3.py; max: "
      "DeepSeek-V2, "
      "arXiv:2405.04434, section 2.2.2";

  RouterScore score = RouterScore::kSoftmax;
  OptionalInputs with;
  ExpertGroups groups;
  Renormalisation renormalise;
  double scale = 1;
  Dimension E, K;
  void Visit(auto&& v) {
    v("score", score);
    v(kWith, with);
    v("groups", groups);
    v("renormalise", renormalise);
    v("scale", scale);
    v("E", E);
    v("K", K);
  }
  void Check() const;
  // By which a group is chosen: the sum of that many of its largest numbers.
  size_t BestOfGroup() const { return std::holds_alternative<Top2Groups>(groups) ? 2 : 1; }
  size_t GroupCount() const { return static_cast<size_t>(Limits().n_group); }
  size_t ChosenGroups() const { return static_cast<size_t>(Limits().topk_group); }
  GroupLimits Limits() const;  // of one group, if there are none
  // Of one token: the score of each expert; the weights of the chosen ones with these scores.
  template <class Real>
  std::vector<Real> Scores(std::span<const Real> logits) const;
  template <class Real>
  std::vector<Real> Weights(std::vector<Real> chosen) const;
  template <class Real>
  void operator()(const Tensor<Real>& logits, const Tensor<Real>* bias, Tensor<Real>& indices,
                  Tensor<Real>& weights) const;
};

}  // namespace sextant
