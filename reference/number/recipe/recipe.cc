#include "reference/number/recipe/recipe.h"

#include <algorithm>
#include <cassert>
#include <sstream>
#include <utility>

#include "reference/base/did_you_mean.h"
#include "reference/base/error.h"
#include "reference/base/value_text.h"

namespace sextant {
namespace {

constexpr StandardRecipe kStandard[] = {
    {"native", "*=T", "*=f32 table=T rotate=T weigh=T score=T gate=T keep=T store=T",
     "every step in the dtype; for f16 and bf16 the frequencies, angles, cos and sin, sums, roots, "
     "dot products, activations and softmax in f32; the table, the rotation, scores, weights, "
     "gates and intermediates in the dtype; logits in f32 (Hugging Face; 'native store=bf16' if a "
     "bf16 head rounds them)"},
    {"f32_compute", "*=T", "*=f32 keep=T store=T",
     "f32 inside an operation, one rounding at its end (Meta)"},
    {"all_native", "*=T", "*=T", "every step in the dtype, 16-bit angles included"},
    {"exact", "*=exact store=T", "*=exact store=T", "the exact value, correctly rounded"},
    {"exact_table",
     "*=T exponent=exact frequency=exact angle=exact trig=exact factor=exact slope=exact "
     "distance=exact",
     "*=f32 exponent=exact frequency=exact angle=exact trig=exact factor=exact slope=exact "
     "distance=exact keep=T store=T",
     "correctly rounded tables and slopes, exact distances; the rest in the dtype (16-bit types: "
     "in f32, rounded once at the end)"},
    {"exp_log", "*=T frequency=T:exp_log slope=T:exp_log",
     "*=f32 frequency=f32:exp_log slope=f32:exp_log table=T rotate=T weigh=T score=T gate=T "
     "keep=T store=T",
     "native, with frequencies and slopes computed by exp(-2k ln(base)/R)"},
    {"power_chain", "*=T frequency=T:power_chain slope=T:power_chain",
     "*=f32 frequency=f32:power_chain slope=f32:power_chain table=T rotate=T weigh=T score=T "
     "gate=T keep=T store=T",
     "native, with frequencies and slopes computed by powers of a rounded base^(2/R)"},
    {"iterated", "*=T frequency=T:iterated slope=T:iterated",
     "*=f32 frequency=f32:iterated slope=f32:iterated table=T rotate=T weigh=T score=T "
     "gate=T keep=T store=T",
     "native, with each frequency and slope computed from the previous one"},
};

const StandardRecipe* StandardNamed(std::string_view name) {
  const auto* at = std::ranges::find(kStandard, name, &StandardRecipe::name);
  return at == std::end(kStandard) ? nullptr : at;
}

std::string LikelyRecipe(std::string_view name) {
  std::vector<std::string> names;
  for (const StandardRecipe& standard : kStandard) names.emplace_back(standard.name);
  return DidYouMean(name, names);
}

// Of weights that attention stores as codes.
constexpr DType kWeightTypes[] = {DType::kF8E4M3FN, DType::kF8E5M2, DType::kF8E4M3FNUZ,
                                  DType::kF8E5M2FNUZ};

bool IsNarrow(DType dtype) { return dtype == DType::kF16 || dtype == DType::kBF16; }

// "format[:form][/ulps]"
StepRule ParseRule(std::string_view text) {
  StepRule rule;
  const size_t slash = text.find('/');
  if (slash != text.npos) {
    ParseValue(text.substr(slash + 1), rule.ulps);
    if (!(rule.ulps >= 0.5)) throw Error("'", text, "': a function is accurate to 0.5 ulp at best");
    text = text.substr(0, slash);
  }
  if (const size_t colon = text.find(':'); colon != text.npos) {
    ParseValue(text.substr(colon + 1), rule.form);
    text = text.substr(0, colon);
  }
  if (text == "exact") {
    rule.exact = true;
  } else if (text == "T") {
    rule.of_tensor = true;
  } else if (const auto* at = std::ranges::find(kFloatTypes, text, NameOf);
             at != std::end(kFloatTypes)) {
    rule.format = *at;
  } else if (const auto* code = std::ranges::find(kWeightTypes, text, NameOf);
             code != std::end(kWeightTypes)) {
    rule.format = *code;
  } else if (text == "tf32" || text == "tf32_truncated") {
    ParseValue(text, rule.factors);
    if (slash != text.npos)
      throw Error("'", text, "' is a format of factors, expected without ulps");
  } else {
    throw Error("'", text, "' is not one of:", NamesText(kFloatTypes, NameOf),
                " T exact tf32 tf32_truncated");
  }
  const bool in_f32 = text == "f32" || rule.factors != Factors::kWhole;
  if ((rule.form == Form::kTensorCore || rule.form == Form::kCudaIntrinsic) && !in_f32)
    throw Error("form ", PrintValue(rule.form), " in format '", text, "', expected f32");
  return rule;
}

void CheckForm(Step step, Form form) {
  const bool frequency = form >= Form::kPow && form <= Form::kIterated;
  const bool sum = form >= Form::kAny && form <= Form::kTensorCore;
  const bool error_function = form >= Form::kErf && form <= Form::kErfAbsolute;
  if (frequency && step != Step::kFrequency && step != Step::kSlope)
    throw Error("form ", PrintValue(form), " belongs to frequency= or slope=");
  if (sum && step != Step::kSum && step != Step::kDot && step != Step::kSoftmax)
    throw Error("form ", PrintValue(form), " belongs to sum=, dot= or softmax=");
  if (error_function && step != Step::kActivation)
    throw Error("form ", PrintValue(form), " belongs to activation=");
  if (form == Form::kCudaIntrinsic && step != Step::kTrig)
    throw Error("form ", PrintValue(form), " belongs to trig=");
  if (form >= Form::kBlocks && step != Step::kScale)
    throw Error("form ", PrintValue(form), " belongs to scale=");
  const bool quotient = form >= Form::kDivide && form <= Form::kInverse;
  if (quotient && step != Step::kQuantize)
    throw Error("form ", PrintValue(form), " belongs to quantize=");
}

// Functions have ulps, and the sums of tensor cores, which may keep fewer bits than f32 has.
void CheckUlps(Step step, const StepRule& rule, std::string_view word) {
  const bool is_sum = step == Step::kDot || step == Step::kSum;
  const bool is_tensor_core = rule.form == Form::kTensorCore;
  if (rule.ulps == 1 || (!is_sum && !is_tensor_core)) return;
  if (!is_sum || !is_tensor_core || rule.ulps < 1)
    throw Error("recipe: '", word,
                "': ulps of a sum are those of its last place on tensor cores, "
                "expected dot=f32:tensor_core/ULPS or sum=f32:tensor_core/ULPS from 1 on");
}

// A line during parsing: the steps that it has named so far, and the rule of all other steps.
struct RecipeLine {
  Recipe recipe;
  std::array<bool, kStepNames.size()> given{};
  std::optional<StepRule> rest{};

  // "step=format", or "*=format" for all steps that are not named.
  void Read(const std::string& word) {
    const size_t equals = word.find('=');
    if (equals == word.npos && StandardNamed(word))
      throw Error("recipe: '", word,
                  "' is the name of a standard recipe, expected as the first word");
    if (equals == word.npos)
      throw Error("recipe: '", word, "' is neither step=format nor flush nor a standard recipe",
                  LikelyRecipe(word));
    const std::string name = word.substr(0, equals);
    const StepRule rule = ParseRule(std::string_view(word).substr(equals + 1));
    if (rule.factors != Factors::kWhole && name != PrintValue(Step::kDot))
      throw Error("recipe: '", word, "': ", PrintValue(rule.factors),
                  " is a format of the factors of products, expected in dot=");
    if (SizeOf(rule.format) == 1 && name != PrintValue(Step::kWeigh))
      throw Error("recipe: '", word, "': ", NameOf(rule.format),
                  " is a format of the weights of attention, expected in weigh=");
    if (name == "*") {
      if (rest)
        throw Error("recipe: '", word,
                    "' is a second *=; a standard recipe contains one: name the steps that differ");
      rest = rule;
      return;
    }
    Step step{};
    ParseValue(name, step);
    CheckForm(step, rule.form);
    CheckUlps(step, rule, word);
    recipe.steps[static_cast<size_t>(step)] = rule;
    given[static_cast<size_t>(step)] = true;
  }

  void FillStepsNotNamed() {
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i]) continue;
      if (!rest)
        throw Error("recipe '", recipe.name, "' has no rule for step ", kStepNames[i],
                    " and no *=");
      recipe.steps[i] = *rest;
    }
    // By default `store` rounds to the dtype of the output.
    if (!given[static_cast<size_t>(Step::kStore)]) {
      recipe.steps[static_cast<size_t>(Step::kStore)] = {.of_tensor = true};
    }
  }
};

Recipe ParseLine(std::string_view text) {
  RecipeLine line{.recipe = {.name = std::string(text), .steps = {}}};
  bool flushes = false;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (word == "flush") {
      flushes = true;
    } else {
      line.Read(word);
    }
  }
  line.FillStepsNotNamed();
  for (StepRule& rule : line.recipe.steps) rule.flushes = flushes;
  return line.recipe;
}

}  // namespace

std::string TextOf(const StepRule& rule) {
  if (rule.exact) return "exact";
  std::string text(rule.of_tensor ? "T" : NameOf(rule.format));
  if (rule.factors != Factors::kWhole) text = PrintValue(rule.factors);
  if (rule.form != Form::kDefault) text += ":" + PrintValue(rule.form);
  if (rule.ulps != 1) text += "/" + PrintValue(rule.ulps);
  return text;
}

std::vector<StandardRecipe> StandardRecipes() {
  return {std::begin(kStandard), std::end(kStandard)};
}

Recipe ParseRecipe(std::string_view text, DType dtype) {
  const size_t end = std::min(text.find(' '), text.size());
  if (const StandardRecipe* standard = StandardNamed(text.substr(0, end))) {
    std::string line(IsNarrow(dtype) ? standard->line_16 : standard->line);
    line += text.substr(end);  // the last rule of a step counts
    Recipe recipe = ParseLine(line);
    recipe.name = text;
    return recipe;
  }
  if (text.find('=') == text.npos)
    throw Error("there is no recipe '", text, "'", LikelyRecipe(text),
                "; there are:", NamesText(kStandard, &StandardRecipe::name),
                ", or a line such as '*=f32 table=T rotate=T' or 'native store=bf16'");
  return ParseLine(text);
}

}  // namespace sextant
