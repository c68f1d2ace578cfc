#include "tools/api/judgement.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "oracle/catalog/causes.h"
#include "oracle/judge/tensor_judge.h"
#include "tools/api/conforming_recipes.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

ElementErrors ErrorsOf(const GoldenTensor& golden, const PermittedTensor& permitted,
                       const Tensor<double>& output) {
  ElementErrors errors{golden.name, Tensor<double>(output.shape), Tensor<double>(output.shape)};
  for (size_t i = 0; i < output.data.size(); ++i) {
    const bool is_nan = std::isnan(output.data[i]) && !std::isnan(golden.high.data[i]);
    errors.error.data[i] = is_nan ? kInfinity : oracle::ErrorOf(golden, i, output.data[i]);
    errors.permitted.data[i] = permitted.error.data[i] + golden.radius.data[i];
  }
  return errors;
}

}  // namespace

Verdict JudgeOutputs(const oracle::Judge& judge, const Case& c, const Tensors& inputs,
                     const Recipe& recipe, const Tensors& outputs, const ProveOptions& options) {
  Verdict verdict = judge.Evaluate(outputs);
  const bool needs_causes =
      verdict.status == Verdict::Status::kFails || verdict.grade == oracle::Grade::kUnlikely;
  if (needs_causes && !verdict.tensors.empty())
    verdict.causes = oracle::CausesOf(c, inputs, recipe, judge.permitted(), outputs, options);
  return verdict;
}

Judgement JudgeQuestion(Question question, const JudgeOptions& options) {
  Judgement judgement{.question = std::move(question),
                      .recipe = options.recipe,
                      .strict = options.strict,
                      .budget = options.budget,
                      .verdict = {}};
  const auto& [c, inputs, outputs, defaults] = judgement.question;
  for (const TensorSpec& spec : c.info().signature.outputs) {
    const bool given = std::ranges::count(outputs, spec.name, &NamedTensor::name) > 0;
    if (given || spec.optional) continue;
    throw Error(c.name(), " needs the output ", spec.name, "; its signature is ",
                c.info().signature_text);
  }
  const Recipe recipe = ParseRecipe(options.recipe, c.dtype());
  const ScopedBudget within(options.budget);
  ProveOptions silent = options.prove;  // after the proof, progress only serves to cancel
  if (silent.progress) silent.progress = [&](double) { options.prove.progress(1); };
  const oracle::Judge judge(
      c, inputs, recipe, ProveAndPermit(c.operation(), c, inputs, recipe, options.prove), silent);
  judgement.verdict = JudgeOutputs(judge, c, inputs, recipe, outputs, silent);
  judgement.verdict.case_line = judgement.question.Text();
  for (size_t o = 0; o < judge.golden().size(); ++o) {
    const GoldenTensor& golden = judge.golden()[o];
    const auto at = std::ranges::find(outputs, golden.name, &NamedTensor::name);
    if (at != outputs.end())
      judgement.errors.push_back(ErrorsOf(golden, judge.permitted()[o], at->values));
  }
  if (judgement.verdict.status == Verdict::Status::kFails)
    judgement.conforming_recipes = ConformingRecipes(judgement, judge.golden(), silent);
  return judgement;
}

}  // namespace sextant::tools
