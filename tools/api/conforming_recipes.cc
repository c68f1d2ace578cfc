#include "tools/api/conforming_recipes.h"

#include <algorithm>
#include <optional>

#include "reference/prove/case_slices.h"
#include "tools/api/element_errors.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

constexpr size_t kSliceElements = 256;

// Recipes that no standard recipe describes, for one dtype.
constexpr std::pair<DType, std::string_view> kFurtherRecipes[] = {
    {DType::kF32, "native activation=f32:erf_absolute/4"},  // GELU of oneDNN, which PyTorch calls
    {DType::kF64, "*=f32 store=T"},                         // f32 arithmetic on f64 tensors
};

std::vector<std::string> RecipesFor(DType dtype) {
  std::vector<std::string> recipes;
  for (const StandardRecipe& standard : StandardRecipes()) recipes.emplace_back(standard.name);
  for (const auto& [of, line] : kFurtherRecipes) {
    if (of == dtype) recipes.emplace_back(line);
  }
  return recipes;
}

// True if the recipes have the same rules for the steps of the operation.
bool AreAlike(const OperationInfo& info, const Recipe& a, const Recipe& b) {
  for (const Step step : info.marked_steps) {
    const auto i = static_cast<size_t>(step);
    if (a.steps[i] != b.steps[i]) return false;
  }
  return true;
}

// A slice with the element whose error is largest, relative to its permitted error; empty if no
// element fails (then an intermediate does).
std::optional<Slice> WorstSlice(const Case& c, const std::vector<ElementErrors>& errors) {
  const TensorSpec* worst = nullptr;
  size_t at = 0;
  double largest = 1;
  for (const ElementErrors& tensor : errors) {
    for (size_t i = 0; i < tensor.error.data.size(); ++i) {
      if (!(tensor.error.data[i] > largest * tensor.permitted.data[i])) continue;
      largest = tensor.error.data[i] / tensor.permitted.data[i];
      worst = FindTensor(c.info().signature, tensor.name);
      at = i;
    }
  }
  if (!worst) return std::nullopt;
  std::vector<Slice> slices = CutCase(c, kSliceElements);
  return *std::ranges::find_if(slices, [&](const Slice& slice) {
    return std::ranges::count(IndicesIn(c.ShapeOf(*worst), *worst, slice), at) > 0;
  });
}

// True if the permitted errors of the slice, one tensor per output, permit all errors in it.
bool PermitsSlice(const Case& c, const std::vector<ElementErrors>& errors,
                  const std::vector<GoldenTensor>& golden,
                  const std::vector<PermittedTensor>& permitted, const Slice& slice) {
  for (size_t o = 0; o < golden.size(); ++o) {
    const auto at = std::ranges::find(errors, golden[o].name, &ElementErrors::name);
    if (at == errors.end()) continue;
    const TensorSpec& spec = c.info().signature.outputs[o];
    const std::vector<size_t> indices = IndicesIn(golden[o].value.shape, spec, slice);
    for (size_t i = 0; i < indices.size(); ++i) {
      const double most =
          permitted[o].error.data[i] + std::max(0.0, golden[o].radius.data[indices[i]]);
      if (at->error.data[indices[i]] > most) return false;
    }
  }
  return true;
}

// A judge by another recipe. Values that are proven need not be proven again.
oracle::Judge JudgeOf(const oracle::Judge& judge, const Case& c, const Tensors& inputs,
                      const Recipe& recipe, const ProveOptions& options) {
  const auto is_enclosed = [](double radius) { return radius < 0; };
  const bool proven = std::ranges::none_of(judge.golden(), [&](const GoldenTensor& golden) {
    return std::ranges::any_of(golden.radius.data, is_enclosed);
  });
  if (proven) return {c, inputs, recipe, judge.golden(), options};
  return {c, inputs, recipe, options};
}

// True if roundings of the recipe may change a decision of the formula.
bool Decides(const Case& c, const Recipe& recipe) {
  const ScopedRecipe scope(recipe, c.dtype());
  return !c.operation().Alternatives().empty();
}

}  // namespace

std::vector<std::string> ConformingRecipes(const oracle::Judge& judge, const Case& c,
                                           const Tensors& inputs, const Recipe& recipe,
                                           const Tensors& outputs, const ProveOptions& options) {
  const std::vector<ElementErrors> errors = ErrorsOf(judge, outputs);
  const std::optional<Slice> worst = WorstSlice(c, errors);
  std::vector<Recipe> tried = {recipe};
  std::vector<std::string> conforming;
  for (const std::string& name : RecipesFor(c.dtype())) {
    const Recipe other = ParseRecipe(name, c.dtype());
    const auto is_alike = [&](const Recipe& before) { return AreAlike(c.info(), other, before); };
    if (std::ranges::any_of(tried, is_alike)) continue;
    tried.push_back(other);
    if (options.progress) options.progress(1);  // may cancel
    const bool permits =
        !worst || Decides(c, other) ||
        PermitsSlice(c, errors, judge.golden(),
                     PermittedErrors(c.operation(), c, inputs, other, *worst), *worst);
    if (!permits) continue;
    const Verdict verdict = JudgeOf(judge, c, inputs, other, options).Evaluate(outputs);
    const bool verified =
        verdict.status == Verdict::Status::kConforms ||
        (verdict.status == Verdict::Status::kUnverified && verdict.open_rows_acceptable);
    if (verified) conforming.push_back(name);
  }
  return conforming;
}

}  // namespace sextant::tools
