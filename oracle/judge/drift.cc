#include "oracle/judge/drift.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "reference/number/evaluation_context.h"

namespace sextant::oracle {
namespace {

using Kind = SumOrder::Kind;

// Those first that commit most: an answer that they explain is compared with no others.
constexpr SumOrder kOrders[] = {{Kind::kForwards, 1},  {Kind::kLargestFirst, 1}, {Kind::kLanes, 4},
                                {Kind::kBackwards, 1}, {Kind::kLanes, 2},        {Kind::kLanes, 8},
                                {Kind::kLanes, 16},    {Kind::kLanes, 64},       {Kind::kBlocks, 8},
                                {Kind::kBlocks, 64},   {Kind::kHalves, 1}};
constexpr double kOtherOrders = 2;  // see the head of drift.h

// What an answer is compared with.
struct Honest {
  std::vector<PermittedTensor> permitted;   // `likely` includes the largest error of honest answers
  std::vector<double> of_functions;         // their mean, at most
  std::vector<double> of_sums;              // the largest mean of honest answers
  std::vector<std::vector<double>> errors;  // largest

  std::vector<double> Bias() const {
    std::vector<double> bias;
    for (size_t o = 0; o < of_sums.size(); ++o)
      bias.push_back(of_functions[o] + kOtherOrders * of_sums[o]);
    return bias;
  }
};

bool IsUnlikely(const JudgedTensor& tensor) { return tensor.verdict.grade == Grade::kUnlikely; }

bool IsOneSided(const JudgedTensor& tensor) {
  return IsUnlikely(tensor) && tensor.verdict.bias_in_standard_errors != 0;
}

// The grade of an answer is that of its worst tensor.
bool AreUnlikely(const std::vector<JudgedTensor>& tensors) {
  const auto fails = [](const JudgedTensor& t) { return t.verdict.grade == Grade::kFails; };
  return std::ranges::none_of(tensors, fails) && std::ranges::any_of(tensors, IsUnlikely);
}

// The mean part of the permitted errors that functions commit beyond those rounded correctly.
std::vector<double> BiasOfFunctions(const Asking& asking, const std::vector<GoldenTensor>& golden,
                                    const std::vector<PermittedTensor>& permitted) {
  Recipe correct = asking.recipe;
  for (StepRule& rule : correct.steps) rule.ulps = std::min(rule.ulps, 0.5);
  const auto less = Permit(asking.operation, asking.c, asking.inputs, correct, asking.options);
  std::vector<double> bias;
  for (size_t o = 0; o < golden.size(); ++o) {
    double sum = 0;
    size_t count = 0;
    for (size_t i = 0; i < golden[o].high.data.size(); ++i) {
      const double all = permitted[o].error.data[i];
      const double bound = all + golden[o].radius.data[i];
      if (!(bound > 0 && bound < INFINITY) || std::isnan(golden[o].high.data[i])) continue;
      sum += std::max(0.0, all - less[o].error.data[i]) / bound;
      ++count;
    }
    bias.push_back(count == 0 ? 0 : sum / static_cast<double>(count));
  }
  return bias;
}

Tensors AnswerIn(const SumOrder& order, const Asking& asking) {
  const ScopedSumOrder in_order(order);
  return AnswerBy(asking.operation, asking.c, asking.inputs, asking.recipe);
}

// Whatever that answer commits is honest.
void Include(const Tensors& answer, const Asking& asking, const std::vector<GoldenTensor>& golden,
             const std::vector<PermittedTensor>& permitted, Honest& honest) {
  const std::vector<JudgedTensor> judged = JudgeTensors(asking.c, {golden, permitted}, answer);
  for (size_t o = 0; o < golden.size(); ++o) {
    honest.of_sums[o] = std::max(honest.of_sums[o], std::abs(judged[o].verdict.bias));
    for (size_t i = 0; i < honest.errors[o].size(); ++i) {
      const double error =
          std::abs((answer[o].values.data[i] - golden[o].high.data[i]) - golden[o].low.data[i]);
      double& largest = honest.errors[o][i];
      if (!(error <= largest)) largest = std::isnan(error) ? INFINITY : error;
      honest.permitted[o].likely.data[i] = permitted[o].likely.data[i] + largest;
    }
  }
}

}  // namespace

std::vector<JudgedTensor> JudgeWithDrift(const Asking& asking, const Standard& standard,
                                         const Tensors& outputs) {
  assert(!asking.options.own);
  const std::vector<GoldenTensor>& golden = standard.golden;
  const std::vector<PermittedTensor>& permitted = standard.permitted;
  std::vector<JudgedTensor> tensors = JudgeTensors(asking.c, standard, outputs);
  if (!AreUnlikely(tensors)) return tensors;
  Honest honest{.permitted = permitted,
                .of_functions = std::vector<double>(golden.size()),
                .of_sums = std::vector<double>(golden.size()),
                .errors = {}};
  for (const PermittedTensor& p : permitted) honest.errors.emplace_back(p.error.data.size());
  if (std::ranges::any_of(tensors, IsOneSided)) {
    honest.of_functions = BiasOfFunctions(asking, golden, permitted);
  }
  for (const SumOrder& order : kOrders) {
    Include(AnswerIn(order, asking), asking, golden, permitted, honest);
    const std::vector<double> bias = honest.Bias();
    tensors = JudgeTensors(asking.c, {golden, honest.permitted, nullptr, bias}, outputs);
    if (!AreUnlikely(tensors)) break;
  }
  return tensors;
}

}  // namespace sextant::oracle
