#include "oracle/diagnosis/recipe/recipe_changes.h"

#include <algorithm>
#include <tuple>

#include "reference/base/value_text.h"

namespace sextant::oracle {
namespace {

// Narrow formats come last: of recipes that are equally loose the first is reported.
constexpr std::string_view kFormats[] = {"f64", "f32", "T", "f16", "bf16"};
// A function's error in ulps: correctly rounded or nearly so, then the documented accuracies of
// math libraries (SLEEF's u35: 3.5, numpy's f64 sines: 3), rounded up to powers of two. In 16 bits
// a function is rounded from a wider one, unless all steps are in the dtype T.
constexpr std::string_view kAccuracies[] = {"", "/2", "/4"};

bool HasAccuracies(std::string_view format) { return format != "f16" && format != "bf16"; }
// No other rule of a step contains these: bf16 has fewer digits, f16 fewer exponents, and either
// may be T.
bool IsLoosest(std::string_view format, Form form, std::string_view accuracy) {
  if (!HasAccuracies(format)) return true;
  return accuracy == kAccuracies[std::size(kAccuracies) - 1] &&
         (format == "T" || form == Form::kTensorCore);
}

// Steps of known implementations that differ in form and accuracy.
constexpr std::pair<Step, std::string_view> kKnown[] = {
    {Step::kActivation, "activation=f32:erf_absolute/4"},  // GELU of oneDNN, which PyTorch calls
    {Step::kDot, "dot=tf32:tensor_core"},                  // cuBLAS, if PyTorch allows TF32
    {Step::kScale, "scale=T:operands"},  // Marlin: a weight of codes, stored in 16 bits
};

// The methods of a step; the default is first.
std::vector<Form> FormsOfStep(Step step) {
  switch (step) {
    case Step::kFrequency:
    case Step::kSlope:
      return {Form::kDefault, Form::kExpLog, Form::kPowerChain, Form::kIterated};
    case Step::kSum:
    case Step::kDot:
    case Step::kSoftmax:
      return {Form::kDefault, Form::kTensorCore};
    case Step::kActivation:
      return {Form::kDefault, Form::kErfAbsolute};
    default:
      return {Form::kDefault};
  }
}

bool HasForm(std::string_view format, Form form) {
  return form != Form::kTensorCore || format == "f32";
}

// Sums have no accuracy: those of functions follow.
bool IsSum(Step step, Form form) {
  return step == Step::kSum || step == Step::kDot || form == Form::kTensorCore;
}

void AddRulesOf(Step step, const std::string& start, std::vector<RecipeCandidate>& all) {
  const std::string name(kStepNames[static_cast<size_t>(step)]);
  for (const std::string_view accuracy : kAccuracies) {
    for (const Form form : FormsOfStep(step)) {
      const bool is_sum = IsSum(step, form);
      if (is_sum && !accuracy.empty()) continue;
      for (const std::string_view format : kFormats) {
        if (!HasForm(format, form) || (!accuracy.empty() && !HasAccuracies(format))) continue;
        std::string word = name + "=" + std::string(format);
        if (form != Form::kDefault) word += ":" + PrintValue(form);
        word += accuracy;
        const bool is_loosest = IsLoosest(format, form, is_sum ? kAccuracies[2] : accuracy);
        all.push_back({start + " " + word, 0, word, step, is_loosest});
      }
    }
  }
}

}  // namespace

int CountChanges(const Recipe& from, const Recipe& to, DType dtype) {
  int count = 0;
  for (size_t i = 0; i < from.steps.size(); ++i) {
    const auto method_of = [&](const StepRule& rule) {
      return std::tuple(rule.exact, rule.of_tensor ? dtype : rule.format, rule.factors, rule.form);
    };
    count += method_of(from.steps[i]) != method_of(to.steps[i]);
    count += from.steps[i].ulps != to.steps[i].ulps;
  }
  return count;
}

bool HaveSameFormats(const Recipe& a, const Recipe& b, DType dtype) {
  const auto format_of = [&](const StepRule& rule) {
    return std::tuple(rule.exact, rule.flushes, rule.of_tensor ? dtype : rule.format, rule.factors);
  };
  return std::ranges::equal(a.steps, b.steps, {}, format_of, format_of);
}

int MostChanges(const std::string& from, const std::string& to, const std::set<DType>& dtypes) {
  int most = 0;
  for (const DType dtype : dtypes)
    most = std::max(most, CountChanges(ParseRecipe(from, dtype), ParseRecipe(to, dtype), dtype));
  return most;
}

bool HasWiderFormats(const std::string& a, const std::string& b, const std::set<DType>& dtypes) {
  return std::ranges::all_of(dtypes, [&](DType dtype) {
    const auto is_wider = [dtype](StepRule wide, StepRule rule) {
      if (wide.exact) return true;
      const bool contains = !rule.exact && Contains(wide.of_tensor ? dtype : wide.format,
                                                    rule.of_tensor ? dtype : rule.format);
      wide.of_tensor = rule.of_tensor;
      wide.format = rule.format;
      return contains && wide == rule;
    };
    return std::ranges::equal(ParseRecipe(a, dtype).steps, ParseRecipe(b, dtype).steps, is_wider);
  });
}

bool HaveSameAccuracies(const std::string& a, const std::string& b) {
  return std::ranges::equal(ParseRecipe(a, DType::kF32).steps, ParseRecipe(b, DType::kF32).steps,
                            {}, &StepRule::ulps, &StepRule::ulps);
}

std::vector<std::string> MethodsOf(Step step) {
  const std::string name(kStepNames[static_cast<size_t>(step)]);
  std::vector<Form> forms = FormsOfStep(step);
  if (forms.back() == Form::kTensorCore) forms.push_back(Form::kPairwise);
  std::vector<std::string> words;
  for (const Form form : forms) {
    for (const std::string_view format : {"f32", "T", "f16", "bf16", "f64"}) {
      if (!HasForm(format, form)) continue;
      words.push_back(name + "=" + std::string(format));
      if (form != Form::kDefault) words.back() += ":" + PrintValue(form);
    }
  }
  words.push_back(name + "=exact");
  return words;
}

std::vector<RecipeCandidate> RecipesNear(const std::string& start, const std::set<Step>& steps) {
  std::vector<RecipeCandidate> all;
  for (const StandardRecipe& standard : StandardRecipes())
    all.push_back({std::string(standard.name), 1});
  for (const char* const format : {"f32", "f16", "bf16"})
    all.push_back({std::string("*=") + format + " store=T", 1});
  all.push_back({start + " flush", 1, "flush"});
  for (const auto& [step, word] : kKnown) {
    if (steps.contains(step))
      all.push_back({start + " " + std::string(word), 1, std::string(word), step, true});
  }
  for (const Step step : steps) AddRulesOf(step, start, all);
  return all;
}

}  // namespace sextant::oracle
