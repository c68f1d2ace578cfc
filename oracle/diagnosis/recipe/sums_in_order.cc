#include "oracle/diagnosis/recipe/sums_in_order.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include "oracle/diagnosis/recipe/compared_parts.h"
#include "reference/base/value_text.h"
#include "reference/number/recipe/evaluation_context.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostSummedWork = size_t{1} << 21;  // of the parts that are compared
constexpr Step kSumming[] = {Step::kSum, Step::kDot, Step::kSoftmax};

// An order of all sums, or a form of each of the summing steps.
struct SummingOrder {
  std::string text;
  SumOrder order{};
  std::vector<std::pair<Step, Form>> forms{};
};

// The summing steps for which the recipe permits any order, in any of the operations.
std::vector<Step> StepsOf(std::span<const JudgedAnswer> answers, const Recipe& recipe) {
  std::vector<Step> steps;
  for (const Step step : kSumming) {
    const StepRule& rule = recipe.steps[static_cast<size_t>(step)];
    const bool any = rule.form == Form::kDefault || rule.form == Form::kAny;
    const bool used = std::ranges::any_of(
        answers, [&](const JudgedAnswer& answer) { return answer.c.info().Marks(step); });
    if (used && any && !rule.exact) steps.push_back(step);
  }
  return steps;
}

// The words of the recipe that are not about one of the steps.
std::string WithoutSteps(const std::string& recipe, const SummingOrder& candidate) {
  std::istringstream words(recipe);
  std::string rest;
  for (std::string word; words >> word;) {
    const bool is_about = std::ranges::any_of(candidate.forms, [&](const auto& form) {
      return word.starts_with(PrintValue(form.first) + "=");
    });
    if (!is_about) rest += (rest.empty() ? "" : " ") + word;
  }
  return rest;
}

// The recipe with the forms of the candidate, for cases of the dtype.
std::string WithForms(const std::string& recipe, const SummingOrder& candidate, DType dtype) {
  const Recipe parsed = ParseRecipe(recipe, dtype);
  std::string text = WithoutSteps(recipe, candidate);
  for (const auto& [step, form] : candidate.forms) {
    StepRule rule = parsed.steps[static_cast<size_t>(step)];
    rule.form = form;
    text += " " + PrintValue(step) + "=" + TextOf(rule);
  }
  return text;
}

// One form for each step: bit i of `pairwise` is that of step i.
SummingOrder OrderWithForms(const std::vector<Step>& steps, size_t pairwise) {
  const bool is_uniform = pairwise == 0 || pairwise + 1 == size_t{1} << steps.size();
  SummingOrder candidate;
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool by_halves = (pairwise >> i & 1) != 0;
    const std::string how = by_halves ? "by halves" : "from left to right";
    if (!is_uniform) candidate.text += (i == 0 ? "" : ", ") + PrintValue(steps[i]) + " " + how;
    if (is_uniform) candidate.text = how;
    candidate.forms.emplace_back(steps[i], by_halves ? Form::kPairwise : Form::kSequential);
  }
  return candidate;
}

std::vector<SummingOrder> CandidatesFor(const std::vector<Step>& steps) {
  std::vector<SummingOrder> all;
  for (size_t pairwise = 0; pairwise < size_t{1} << steps.size(); ++pairwise)
    all.push_back(OrderWithForms(steps, pairwise));
  all.push_back({"from right to left", {SumOrder::Kind::kBackwards, 1}});
  all.push_back({"the largest first", {SumOrder::Kind::kLargestFirst, 1}});
  for (const size_t size : {2, 4, 8, 16, 32, 64}) {
    const std::string number = std::to_string(size);
    all.push_back({"in " + number + " lanes", {SumOrder::Kind::kLanes, size}});
    all.push_back({"in blocks of " + number, {SumOrder::Kind::kBlocks, size}});
  }
  return all;
}

// The elements of all parts; 0 if the candidate answers one of them otherwise.
size_t SameElements(const std::vector<ComparedPart>& parts, const std::string& recipe,
                    const SummingOrder& candidate) {
  const ScopedSumOrder in_order(candidate.order);
  size_t count = 0;
  for (const ComparedPart& part : parts) {
    const DType dtype = part.answer->c.dtype();
    const Recipe parsed = ParseRecipe(WithForms(recipe, candidate, dtype), dtype);
    const auto same = [&](const OwnElement& element) {
      ++count;
      return SameNumber(element.given, element.own);
    };
    if (!ForEachOwn(part, parsed, same)) return 0;
  }
  return count;
}

// Empty if it depends on the dtype.
std::string TextFor(std::span<const JudgedAnswer> answers, const std::string& recipe,
                    const SummingOrder& candidate) {
  std::set<std::string> texts;
  for (const JudgedAnswer& answer : answers)
    texts.insert(WithForms(recipe, candidate, answer.c.dtype()));
  return texts.size() == 1 && !candidate.forms.empty() ? *texts.begin() : "";
}

}  // namespace

std::optional<FoundOrder> OrderOfSums(std::span<const JudgedAnswer> answers,
                                      const std::string& recipe) {
  if (answers.empty()) return std::nullopt;
  const std::vector<Step> steps = StepsOf(answers, ParseRecipe(recipe, answers.front().c.dtype()));
  if (steps.empty()) return std::nullopt;
  const std::vector<ComparedPart> parts = PartsOf(answers, kMostSummedWork);
  FoundOrder found;
  for (const SummingOrder& candidate : CandidatesFor(steps)) {
    const size_t same = SameElements(parts, recipe, candidate);
    if (same == 0) continue;
    found.elements = same;
    found.orders.push_back(candidate.text);
    found.recipe = TextFor(answers, recipe, candidate);
  }
  if (found.orders.size() != 1) found.recipe.clear();
  return found;
}

}  // namespace sextant::oracle
