#include "tools/api/conforming_recipes.h"

#include <algorithm>
#include <optional>

#include "reference/prove/case_slices.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

constexpr size_t kSliceElements = 256;

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

// True if the recipe permits all errors in the slice.
bool PermitsSlice(const Judgement& judgement, const std::vector<GoldenTensor>& golden,
                  const Recipe& recipe, const Slice& slice) {
  const Case& c = judgement.question.c;
  const auto permitted =
      PermittedErrors(c.operation(), c, judgement.question.inputs, recipe, slice);
  for (size_t o = 0; o < golden.size(); ++o) {
    const auto at = std::ranges::find(judgement.errors, golden[o].name, &ElementErrors::name);
    if (at == judgement.errors.end()) continue;
    const TensorSpec& spec = c.info().signature.outputs[o];
    const std::vector<size_t> indices = IndicesIn(golden[o].value.shape, spec, slice);
    for (size_t i = 0; i < indices.size(); ++i) {
      const double most = permitted[o].error.data[i] + golden[o].radius.data[indices[i]];
      if (at->error.data[indices[i]] > most) return false;
    }
  }
  return true;
}

}  // namespace

std::vector<std::string> ConformingRecipes(const Judgement& judgement,
                                           const std::vector<GoldenTensor>& golden,
                                           const ProveOptions& options) {
  const auto& [c, inputs, outputs, defaults] = judgement.question;
  const std::optional<Slice> worst = WorstSlice(c, judgement.errors);
  std::vector<Recipe> tried = {ParseRecipe(judgement.recipe, c.dtype())};
  std::vector<std::string> conforming;
  for (const StandardRecipe& standard : StandardRecipes()) {
    const Recipe recipe = ParseRecipe(standard.name, c.dtype());
    const auto is_alike = [&](const Recipe& other) { return AreAlike(c.info(), recipe, other); };
    if (std::ranges::any_of(tried, is_alike)) continue;
    tried.push_back(recipe);
    if (options.progress) options.progress(1);  // may cancel
    const bool decides = [&] {
      const ScopedRecipe scope(recipe, c.dtype());
      return !c.operation().Alternatives().empty();
    }();
    if (!decides && worst && !PermitsSlice(judgement, golden, recipe, *worst)) continue;
    const Verdict verdict = oracle::Judge(c, inputs, recipe, golden, options).Evaluate(outputs);
    const bool verified =
        verdict.status == Verdict::Status::kConforms ||
        (verdict.status == Verdict::Status::kUnverified && verdict.open_rows_acceptable);
    if (verified) conforming.emplace_back(standard.name);
  }
  return conforming;
}

}  // namespace sextant::tools
