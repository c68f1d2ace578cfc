#include "oracle/judge/systematic_error.h"

#include <algorithm>
#include <cmath>

#include "oracle/judge/bias_sample.h"

namespace sextant::oracle {
namespace {

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

bool IsOneSided(const JudgedTensor& tensor) {
  return IsUnlikely(tensor) && tensor.verdict.bias_in_standard_errors != 0;
}

// The mean of of(i) over the elements i of output o.
template <class Of>
double MeanOf(const Reference& reference, size_t o, Of of) {
  const GoldenTensor& golden = reference.golden[o];
  Bias bias(golden.high.data.size(), RowWidth(golden.high.shape));
  for (size_t i = 0; i < golden.high.data.size(); ++i)
    AddShare(golden, reference.permitted[o], i, of(i), i, bias);
  return std::abs(bias.Mean());
}

// Mean over the elements of the share of the permitted error that is due to functions which are not
// correctly rounded.
std::vector<double> BiasOfFunctions(const Problem& problem, const Reference& reference) {
  const auto less = PermittedErrors(
      {problem.c, problem.inputs, WithRoundedFunctions(problem.recipe), problem.operation},
      problem.options);
  std::vector<double> bias;
  for (size_t o = 0; o < less.size(); ++o) {
    bias.push_back(MeanOf(reference, o, [&](size_t i) {
      return ShareOfFunctions(reference.permitted[o].error.data[i], less[o].error.data[i]);
    }));
  }
  return bias;
}

Tensors AnswerIn(const SumOrder& order, const Problem& problem) {
  const ScopedSumOrder in_order(order);
  return EvaluateByRecipe({problem.c, problem.inputs, problem.recipe, problem.operation});
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

// Large answers of which only means are unlikely: compares these with the means of a sample of the
// recipe's answers. Empty if the sample has too few units for that.
std::vector<JudgedTensor> JudgeWholeBySample(const Problem& problem, const Reference& reference,
                                             const Tensors& outputs,
                                             const std::vector<JudgedTensor>& before) {
  const auto part_of = [&](const Slice& slice) { return PartOf(reference, problem.c, slice); };
  const SlicedProblem sliced{problem.operation, problem.c, ReadersOf(problem.inputs),
                             problem.recipe, problem.options.threads};
  return JudgeBySample(sliced, part_of, before, [&](const std::vector<double>& bias) {
    return JudgeTensors(
        problem.c,
        {reference.golden, reference.permitted, nullptr, bias, reference.inputs, reference.threads},
        outputs);
  });
}

}  // namespace

std::vector<JudgedTensor> JudgeWithSystematicErrors(const Problem& problem,
                                                    const Reference& reference,
                                                    const Tensors& outputs) {
  const std::vector<GoldenTensor>& golden = reference.golden;
  const std::vector<PermittedTensor>& permitted = reference.permitted;
  std::vector<JudgedTensor> tensors = JudgeTensors(problem.c, reference, outputs);
  if (!AreUnlikely(tensors)) return tensors;
  if (NeedsSample(problem.c, tensors)) {
    std::vector<JudgedTensor> sampled = JudgeWholeBySample(problem, reference, outputs, tensors);
    if (!sampled.empty()) return sampled;
  }
  RecipeErrors recipe_errors{.permitted = permitted,
                             .function_bias = std::vector<double>(golden.size()),
                             .sum_bias = std::vector<double>(golden.size()),
                             .errors = {}};
  for (const PermittedTensor& p : permitted) recipe_errors.errors.emplace_back(p.error.data.size());
  if (std::ranges::any_of(tensors, IsOneSided)) {
    recipe_errors.function_bias = BiasOfFunctions(problem, reference);
  }
  for (const SumOrder& order : kSumOrders) {
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
