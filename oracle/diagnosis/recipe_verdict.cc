#include "oracle/diagnosis/recipe_verdict.h"

#include <algorithm>

#include "reference/prove/budget.h"

namespace sextant::oracle {
namespace {

// Elements that are judged first of a case that has more.
constexpr size_t kFirst = size_t{1} << 16;

Verdict VerdictBy(const JudgedAnswer& answer, const Recipe& recipe, const ProveOptions& options) {
  const auto& [c, inputs, outputs, judge, verdict] = answer;
  constexpr auto kHow = Judge::Grading::kPassOrFail;
  const auto is_enclosed = [](double radius) { return radius < 0; };
  const bool proven = std::ranges::none_of(judge.golden(), [&](const GoldenTensor& golden) {
    return std::ranges::any_of(golden.radius.data, is_enclosed);
  });
  // Values that are proven need not be proven again.
  if (proven) return Judge(c, inputs, recipe, judge.golden(), options, kHow).Evaluate(outputs);
  return Judge(c, inputs, recipe, options, kHow).Evaluate(outputs);
}

bool FailsAtFirst(const JudgedAnswer& answer, const Recipe& recipe, const ProveOptions& options) {
  size_t elements = 0;
  for (const NamedTensor& output : answer.outputs) elements += output.values.data.size();
  if (HasBudget() || elements <= kFirst) return false;
  const ScopedBudget within(Budget{.elements = kFirst});
  return VerdictBy(answer, recipe, options).status == Verdict::Status::kFails;
}

}  // namespace

size_t JudgedElements(const Verdict& verdict) {
  size_t count = 0;
  for (const TensorVerdict& tensor : verdict.tensors) count += tensor.judged;
  return count;
}

std::optional<Verdict> ConformingVerdict(const JudgedAnswer& answer, const std::string& recipe,
                                         const ProveOptions& options) {
  const Recipe parsed = ParseRecipe(recipe, answer.c.dtype());
  if (FailsAtFirst(answer, parsed, options)) return std::nullopt;
  Verdict verdict = VerdictBy(answer, parsed, options);
  if (verdict.status == Verdict::Status::kFails) return std::nullopt;
  return verdict;
}

}  // namespace sextant::oracle
