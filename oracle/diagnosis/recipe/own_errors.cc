#include "oracle/diagnosis/recipe/own_errors.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "oracle/diagnosis/answer/answered_tensor.h"
#include "oracle/diagnosis/evidence.h"
#include "oracle/diagnosis/recipe/compared_parts.h"
#include "oracle/diagnosis/recipe/recipe_changes.h"
#include "oracle/diagnosis/recipe/recipe_verdict.h"
#include "oracle/diagnosis/recipe/tried_recipe.h"
#include "reference/number/recipe/evaluation_context.h"
#include "reference/number/recipe/rounding_units.h"
#include "reference/number/recipe/tf32.h"
#include "reference/prove/case_slices.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostComparedWork = size_t{1} << 20;  // of the compared parts (work.h)

bool RoundsToFewerDigits(const Recipe& recipe, DType dtype) {
  return std::ranges::any_of(recipe.steps, [&](const StepRule& rule) {
    if (rule.factors != Factors::kWhole && !IsWithinTf32(dtype)) return true;
    return !rule.exact && !rule.of_tensor && UnitRoundoffOf(rule.format) > UnitRoundoffOf(dtype);
  });
}

// Of the elements that fail by the start, those that are near the recipe's own answer by some order
// of sums, and those that are far by every order and for which the order does not matter.
struct Count {
  size_t failing = 0, near = 0, far = 0;
};

std::vector<OwnElement> FailingIn(const ComparedPart& part, const Recipe& recipe,
                                  SumOrder::Kind order) {
  const ScopedSumOrder in_order({order, 1});
  std::vector<OwnElement> failing;
  ForEachOwn(part, recipe, [&](const OwnElement& element) {
    if (element.fails) failing.push_back(element);
    return true;
  });
  return failing;
}

Count CountIn(const std::vector<ComparedPart>& parts, const std::string& recipe) {
  const auto is_near = [](const OwnElement& element) {
    return kFarther * std::abs(element.given - element.own) <=
           std::abs(element.given - element.exact);
  };
  Count count;
  for (const ComparedPart& part : parts) {
    const Recipe parsed = ParseRecipe(recipe, part.answer->c.dtype());
    const auto forwards = FailingIn(part, parsed, SumOrder::Kind::kForwards);
    const auto halves = FailingIn(part, parsed, SumOrder::Kind::kHalves);
    const bool tells = HasRoundingsOnly(parsed);
    for (size_t i = 0; i < forwards.size(); ++i) {
      const bool near = is_near(forwards[i]) || is_near(halves[i]);
      ++count.failing;
      count.near += near;
      count.far += !near && tells && SameNumber(forwards[i].own, halves[i].own);
    }
  }
  return count;
}

}  // namespace

bool HasOtherErrors(const std::string& recipe, std::span<const JudgedAnswer> answers) {
  const bool is_narrow = std::ranges::any_of(answers, [&](const JudgedAnswer& answer) {
    const DType dtype = answer.c.dtype();
    return RoundsToFewerDigits(ParseRecipe(recipe, dtype), dtype);
  });
  if (!is_narrow) return false;
  std::vector<JudgedAnswer> failing;
  std::ranges::copy_if(answers, std::back_inserter(failing), Fails);
  const std::vector<ComparedPart> parts = PartsOf(failing, kMostComparedWork);
  const Count own = CountIn(parts, recipe);
  if (2 * own.far <= own.failing || !IsEvidence(2 * own.far - own.failing, 1)) return false;
  return std::ranges::none_of(RecipesNear(recipe, {}), [&](const RecipeCandidate& standard) {
    const Count count = CountIn(parts, standard.text);
    return 2 * count.near > count.failing;
  });
}

bool PermitsZeros(const std::string& recipe, const JudgedAnswer& of) {
  size_t numbers = 0, permitted = 0;
  for (const auto& [answer, slice] : PartsOf({&of, 1}, kMostComparedWork)) {
    const Case& c = answer->c;
    const auto errors = PermittedErrors({c, answer->inputs, ParseRecipe(recipe, c.dtype())}, slice);
    for (size_t o = 0; o < errors.size(); ++o) {
      const TensorSpec& output = c.info().signature.outputs[o];
      if (!std::ranges::count(answer->outputs, output.name, &NamedTensor::name)) continue;
      const Tensor<double> exact = ExtractSlice(answer->judge.golden()[o].high, output, slice);
      for (size_t i = 0; i < exact.data.size(); ++i) {
        const double size = std::abs(exact.data[i]);
        numbers += size > 0 && std::isfinite(size);
        permitted += size > 0 && size <= errors[o].error.data[i];
      }
    }
  }
  return 2 * permitted > numbers;
}

}  // namespace sextant::oracle
