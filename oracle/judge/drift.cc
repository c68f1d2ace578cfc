#include "oracle/judge/drift.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "reference/number/evaluation_context.h"

namespace sextant::oracle {
namespace {

using Kind = SumOrder::Kind;

// Orders with the largest errors come first: the loop ends when the answer is no longer unlikely.
constexpr SumOrder kOrders[] = {{Kind::kForwards, 1},  {Kind::kLargestFirst, 1}, {Kind::kLanes, 4},
                                {Kind::kBackwards, 1}, {Kind::kLanes, 2},        {Kind::kLanes, 8},
                                {Kind::kLanes, 16},    {Kind::kLanes, 64},       {Kind::kBlocks, 8},
                                {Kind::kBlocks, 64},   {Kind::kHalves, 1}};
constexpr double kOtherOrders = 2;  // factor for orders that are not tried, see drift.h

// Errors of the recipe's own answers, per output.
struct RecipeErrors {
  std::vector<PermittedTensor> permitted;   // `likely` includes the largest error of the answers
  std::vector<double> function_bias;        // bound of the |mean| error of functions
  std::vector<double> sum_bias;             // largest |mean| error of the answers
  std::vector<std::vector<double>> errors;  // largest |error| of the answers per element

  std::vector<double> Bias() const {
    std::vector<double> bias;
    for (size_t o = 0; o < sum_bias.size(); ++o)
      bias.push_back(function_bias[o] + kOtherOrders * sum_bias[o]);
    return bias;
  }
};

bool IsUnlikely(const JudgedTensor& tensor) { return tensor.verdict.grade == Grade::kUnlikely; }

bool IsOneSided(const JudgedTensor& tensor) {
  return IsUnlikely(tensor) && tensor.verdict.bias_in_standard_errors != 0;
}

// True if the grade of the whole answer, that of its worst tensor, is kUnlikely.
bool AreUnlikely(const std::vector<JudgedTensor>& tensors) {
  const auto fails = [](const JudgedTensor& t) { return t.verdict.grade == Grade::kFails; };
  return std::ranges::none_of(tensors, fails) && std::ranges::any_of(tensors, IsUnlikely);
}

// Mean over the elements of the share of the permitted error that is due to functions which are not
// correctly rounded.
std::vector<double> BiasOfFunctions(const Problem& problem, const std::vector<GoldenTensor>& golden,
                                    const std::vector<PermittedTensor>& permitted) {
  Recipe correct = problem.recipe;
  for (StepRule& rule : correct.steps) rule.ulps = std::min(rule.ulps, 0.5);
  const auto less =
      PermittedErrors(problem.operation, problem.c, problem.inputs, correct, problem.options);
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

Tensors AnswerIn(const SumOrder& order, const Problem& problem) {
  const ScopedSumOrder in_order(order);
  return EvaluateByRecipe(problem.operation, problem.c, problem.inputs, problem.recipe);
}

// Widens `recipe_errors` by the errors of `answer`.
void Include(const Tensors& answer, const Problem& problem, const std::vector<GoldenTensor>& golden,
             const std::vector<PermittedTensor>& permitted, RecipeErrors& recipe_errors) {
  const std::vector<JudgedTensor> judged = JudgeTensors(
      problem.c, {.golden = golden, .permitted = permitted, .threads = problem.options.threads},
      answer);
  for (size_t o = 0; o < golden.size(); ++o) {
    recipe_errors.sum_bias[o] =
        std::max(recipe_errors.sum_bias[o], std::abs(judged[o].verdict.bias));
    for (size_t i = 0; i < recipe_errors.errors[o].size(); ++i) {
      const double error =
          std::abs((answer[o].values.data[i] - golden[o].high.data[i]) - golden[o].low.data[i]);
      double& largest = recipe_errors.errors[o][i];
      if (!(error <= largest)) largest = std::isnan(error) ? INFINITY : error;
      recipe_errors.permitted[o].likely.data[i] = permitted[o].likely.data[i] + largest;
    }
  }
}

}  // namespace

std::vector<JudgedTensor> JudgeWithDrift(const Problem& problem, const Reference& reference,
                                         const Tensors& outputs) {
  assert(!problem.options.subject_outputs);
  const std::vector<GoldenTensor>& golden = reference.golden;
  const std::vector<PermittedTensor>& permitted = reference.permitted;
  std::vector<JudgedTensor> tensors = JudgeTensors(problem.c, reference, outputs);
  if (!AreUnlikely(tensors)) return tensors;
  RecipeErrors recipe_errors{.permitted = permitted,
                             .function_bias = std::vector<double>(golden.size()),
                             .sum_bias = std::vector<double>(golden.size()),
                             .errors = {}};
  for (const PermittedTensor& p : permitted) recipe_errors.errors.emplace_back(p.error.data.size());
  if (std::ranges::any_of(tensors, IsOneSided)) {
    recipe_errors.function_bias = BiasOfFunctions(problem, golden, permitted);
  }
  for (const SumOrder& order : kOrders) {
    Include(AnswerIn(order, problem), problem, golden, permitted, recipe_errors);
    const std::vector<double> bias = recipe_errors.Bias();
    tensors = JudgeTensors(
        problem.c,
        {golden, recipe_errors.permitted, nullptr, bias, reference.inputs, reference.threads},
        outputs);
    if (!AreUnlikely(tensors)) break;
  }
  return tensors;
}

}  // namespace sextant::oracle
