#include "oracle/judge/likely.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "reference/base/parallel.h"
#include "reference/case/extents.h"
#include "reference/number/recipe/in_parallel_here.h"
#include "reference/number/rounded/stochastic_rounding.h"
#include "reference/prove/budget.h"

namespace sextant::oracle {
namespace {

constexpr uint64_t kSamples = 16;
constexpr uint64_t kAtOnce = 4;  // answers in memory; divides kSamples
constexpr double kDeviations = 8;

// Adds the squared errors of one answer, divided by kSamples.
void AddSquares(const Tensors& answer, const std::vector<GoldenTensor>& golden,
                std::vector<std::vector<double>>& squares) {
  for (size_t o = 0; o < answer.size(); ++o) {
    for (size_t i = 0; i < squares[o].size(); ++i) {
      const double error =
          (answer[o].values.data[i] - golden[o].high.data[i]) - golden[o].low.data[i];
      squares[o][i] += error * error / kSamples;
    }
  }
}

}  // namespace

void SampleLikely(const Case& c, const Tensors& inputs, const Recipe& recipe,
                  const std::vector<GoldenTensor>& golden, std::vector<PermittedTensor>& permitted,
                  int threads) {
  if (!IsComposite(c.info()) || c.dtype() == DType::kF64) return;
  std::vector<std::vector<double>> squares;
  for (const PermittedTensor& p : permitted) squares.emplace_back(p.error.data.size());
  const Budget budget = CurrentBudget();
  std::vector<Tensors> answers(kAtOnce);
  for (uint64_t first = 0; first < kSamples; first += kAtOnce) {
    InParallel(kAtOnce, threads, [&](size_t i) {
      const ScopedThreads alone(1);
      const ScopedBudget within(budget);
      const ScopedStochasticRounding rounding(first + i);
      answers[i] = EvaluateByRecipe({c, inputs, recipe});
    });
    for (const Tensors& answer : answers) AddSquares(answer, golden, squares);
  }
  double ulps = 1;  // largest error of functions; their sampled error is one ulp
  for (const StepRule& rule : recipe.steps) ulps = std::max(ulps, rule.ulps);
  const double deviations = kDeviations * ulps;
  for (size_t o = 0; o < squares.size(); ++o) {
    for (size_t i = 0; i < squares[o].size(); ++i) {
      double& likely = permitted[o].likely.data[i];
      const double sampled = deviations * std::sqrt(squares[o][i]);
      if (sampled < likely) likely = sampled;
    }
  }
}

}  // namespace sextant::oracle
