#include "oracle/judge/drift.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "oracle/judge/bias.h"
#include "reference/base/parallel.h"
#include "reference/base/splitmix64.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/prove/budget.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

using Kind = SumOrder::Kind;

// Orders with the largest errors come first: the loop ends when the answer is no longer unlikely.
constexpr SumOrder kOrders[] = {{Kind::kForwards, 1},  {Kind::kLargestFirst, 1}, {Kind::kLanes, 4},
                                {Kind::kBackwards, 1}, {Kind::kLanes, 2},        {Kind::kLanes, 8},
                                {Kind::kLanes, 16},    {Kind::kLanes, 64},       {Kind::kBlocks, 8},
                                {Kind::kBlocks, 64},   {Kind::kHalves, 1}};
constexpr double kOtherOrders = 2;  // factor for orders that are not tried, see drift.h
// In cases of more than kLarge elements, means are estimated from kSample elements; the estimate
// may err by kSampleErrors standard errors (two-sided tail of Student's t for 32 units: 5e-9).
constexpr size_t kSample = size_t{1} << 15, kLarge = size_t{1} << 20;
constexpr double kSampleErrors = 8;

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

// The mean of signed numbers of elements, and how far it may lie from that of all elements if these
// are a sample.
struct Estimate {
  double mean = 0, reach = 0;
};

// The mean of of(o, i) over the elements of output o that can be judged and have one (not NaN).
template <class Of>
Estimate MeanOf(const Reference& reference, size_t o, bool is_sample, Of of) {
  const GoldenTensor& golden = reference.golden[o];
  Bias bias(golden.high.data.size(), RowWidth(golden.high.shape));
  for (size_t i = 0; i < golden.high.data.size(); ++i) {
    const double bound =
        reference.permitted[o].error.data[i] + std::max(0.0, golden.radius.data[i]);
    const double number = of(o, i) / bound;
    if (bound > 0 && bound < INFINITY && !std::isnan(number) && !std::isnan(golden.high.data[i]))
      bias.Add(i, golden.high.data[i], number);
  }
  const double errors = std::abs(bias.StandardErrors()), mean = std::abs(bias.Mean());
  return {mean,
          is_sample && mean > 0 ? (errors > 0 ? kSampleErrors * mean / errors : INFINITY) : 0};
}

// Mean over the elements of the share of the permitted error that is due to functions which are not
// correctly rounded. `errors_of`: the permitted errors of a recipe, NaN where there are none.
template <class ErrorsOf>
std::vector<Estimate> BiasOfFunctions(const Problem& problem, const Reference& reference,
                                      bool is_sample, ErrorsOf errors_of) {
  Recipe correct = problem.recipe;
  for (StepRule& rule : correct.steps) rule.ulps = std::min(rule.ulps, 0.5);
  const std::vector<Tensor<double>> less = errors_of(correct);
  std::vector<Estimate> bias;
  for (size_t o = 0; o < less.size(); ++o) {
    bias.push_back(MeanOf(reference, o, is_sample, [&](size_t output, size_t i) {
      const double share = reference.permitted[output].error.data[i] - less[output].data[i];
      return share < 0 ? 0 : share;
    }));
  }
  return bias;
}

std::vector<double> BiasOfFunctions(const Problem& problem, const Reference& reference) {
  const auto errors_of = [&](const Recipe& recipe) {
    std::vector<Tensor<double>> errors;
    for (PermittedTensor& permitted :
         PermittedErrors(problem.operation, problem.c, problem.inputs, recipe, problem.options))
      errors.push_back(std::move(permitted.error));
    return errors;
  };
  std::vector<double> bias;
  for (const Estimate& of : BiasOfFunctions(problem, reference, false, errors_of))
    bias.push_back(of.mean);
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

size_t ElementsOf(const std::vector<GoldenTensor>& golden) {
  size_t count = 0;
  for (const GoldenTensor& g : golden) count += g.high.data.size();
  return count;
}

// A random part of a large case: one slice of each of equal parts of the slices in their order, so
// that all batches and heads have their share.
std::vector<Slice> SampleSlices(const Case& c, size_t elements) {
  const std::vector<Slice> all = CutCase(c, elements / (size_t{1} << 16) + 1);
  const size_t count = std::clamp(kSample * all.size() / elements, size_t{1}, all.size());
  SplitMix64 random(0);
  std::vector<Slice> slices;
  for (size_t i = 0; i < count; ++i) {
    const size_t first = i * all.size() / count, last = (i + 1) * all.size() / count;
    slices.push_back(all[first + random.Below(last - first)]);
  }
  return slices;
}

// The numbers that of(slice) gives for each output of each slice; all others are NaN.
template <class Of>
std::vector<Tensor<double>> SampleOf(const Problem& problem, const std::vector<Slice>& slices,
                                     Of of) {
  const auto& outputs = problem.c.info().signature.outputs;
  std::vector<Tensor<double>> whole;
  for (const TensorSpec& spec : outputs) {
    whole.emplace_back(problem.c.ShapeOf(spec));
    std::ranges::fill(whole.back().data, kNaN);
  }
  InParallel(slices.size(), problem.options.threads, [&](size_t i) {
    const auto part = of(slices[i]);
    for (size_t o = 0; o < part.size(); ++o) InsertSlice(part[o], outputs[o], slices[i], whole[o]);
  });
  return whole;
}

std::vector<Tensor<double>> ErrorsIn(const Problem& problem, const Recipe& recipe,
                                     const Slice& slice) {
  std::vector<Tensor<double>> errors;
  for (PermittedTensor& permitted :
       PermittedErrors(problem.operation, problem.c, problem.inputs, recipe, slice))
    errors.push_back(std::move(permitted.error));
  return errors;
}

std::vector<Tensor<double>> AnswerIn(const SumOrder& order, const Problem& problem,
                                     const Slice& slice) {
  const ScopedSumOrder in_order(order);
  std::vector<Tensor<double>> answer;
  for (NamedTensor& tensor :
       EvaluateByRecipe(problem.operation, problem.c, problem.inputs, problem.recipe, slice))
    answer.push_back(std::move(tensor.values));
  return answer;
}

// Large answers of which only means are unlikely, those of `before`: compares these with the means
// of a sample of the recipe's answers. Empty if the sample has too few units for that.
std::vector<JudgedTensor> JudgeBySample(const Problem& problem, const Reference& reference,
                                        const Tensors& outputs,
                                        const std::vector<JudgedTensor>& before) {
  const auto is_needed = [&](const GoldenTensor& golden) {
    const auto name = [](const JudgedTensor& tensor) { return tensor.verdict.name; };
    const auto at = std::ranges::find(before, golden.name, name);
    return at != before.end() && IsUnlikely(*at);
  };
  const std::vector<Slice> slices = SampleSlices(problem.c, ElementsOf(reference.golden));
  const auto errors_of = [&](const Recipe& recipe) {
    return SampleOf(problem, slices,
                    [&](const Slice& slice) { return ErrorsIn(problem, recipe, slice); });
  };
  const auto of_functions = BiasOfFunctions(problem, reference, true, errors_of);
  std::vector<double> of_sums(of_functions.size());
  std::vector<JudgedTensor> tensors;
  for (const SumOrder& order : kOrders) {
    const auto answer = SampleOf(
        problem, slices, [&](const Slice& slice) { return AnswerIn(order, problem, slice); });
    std::vector<double> bias(answer.size());
    for (size_t o = 0; o < answer.size(); ++o) {
      if (!is_needed(reference.golden[o])) continue;
      const Estimate of = MeanOf(reference, o, true, [&](size_t output, size_t i) {
        const GoldenTensor& golden = reference.golden[output];
        return (answer[output].data[i] - golden.high.data[i]) - golden.low.data[i];
      });
      of_sums[o] = std::max(of_sums[o], of.mean + of.reach);
      bias[o] = of_functions[o].mean + of_functions[o].reach + kOtherOrders * of_sums[o];
      if (std::isinf(bias[o])) return {};
    }
    tensors = JudgeTensors(
        problem.c,
        {reference.golden, reference.permitted, nullptr, bias, reference.inputs, reference.threads},
        outputs);
    if (!AreUnlikely(tensors)) break;
  }
  return tensors;
}

}  // namespace

std::vector<JudgedTensor> JudgeWithDrift(const Problem& problem, const Reference& reference,
                                         const Tensors& outputs) {
  assert(!problem.options.subject_outputs);
  const std::vector<GoldenTensor>& golden = reference.golden;
  const std::vector<PermittedTensor>& permitted = reference.permitted;
  std::vector<JudgedTensor> tensors = JudgeTensors(problem.c, reference, outputs);
  if (!AreUnlikely(tensors)) return tensors;
  const auto is_element_unlikely = [](const JudgedTensor& t) { return t.verdict.unlikely > 0; };
  if (ElementsOf(golden) > kLarge && !HasBudget() &&
      std::ranges::none_of(tensors, is_element_unlikely)) {
    std::vector<JudgedTensor> sampled = JudgeBySample(problem, reference, outputs, tensors);
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
