// sextant compare
#include "fixtures/store/compare.h"

#include <iomanip>
#include <iostream>
#include <memory>

#include "oracle/profile/recipe_difference.h"
#include "reference/base/printable.h"
#include "reference/prove/budget.h"
#include "reference/prove/prove.h"
#include "tools/api/exit_status.h"
#include "tools/api/selection.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/cli/output.h"

namespace sextant::tools {
namespace {

// "; all within [0,3..5,0..63]": the first and the last index on each axis. Empty for a scalar.
std::string PlaceOf(const fixtures::DatasetComparison& d) {
  std::string text;
  for (const auto& [first, last] : d.differing) {
    text += (text.empty() ? "; all within [" : ",") + std::to_string(first);
    if (last > first) text += ".." + std::to_string(last);
  }
  return text.empty() ? "" : text + "]";
}

void PrintDifferences(const fixtures::DatasetComparison& d) {
  const fixtures::UlpStatistics& t = d.statistics;
  std::cout << Marked(d.path) << ": " << t.different << " of " << t.count << " elements differ"
            << PlaceOf(d);
  if (t.largest_ulps > 0) {
    std::cout << "; at most " << t.largest_ulps << " ulps, at "
              << IndexText("", d.shape, t.largest_ulps_at) << ", and " << t.largest_error << ", at "
              << IndexText("", d.shape, t.largest_error_at);
  }
  if (t.nan_only_a + t.nan_only_b > 0) {
    std::cout << "; NaN only in the first: " << t.nan_only_a
              << ", only in the second: " << t.nan_only_b;
  }
  std::cout << "\n";
}

int CompareFiles(const std::string& a, const std::string& b) {
  const fixtures::Comparison comparison = fixtures::Compare(a, b);
  size_t different = 0;
  std::cout.precision(17);
  for (const fixtures::DatasetComparison& d : comparison.common) {
    if (!d.mismatch.empty()) {
      std::cout << Marked(d.path + ": " + d.mismatch) << "\n";
      ++different;
    } else if (d.statistics.different > 0) {
      PrintDifferences(d);
      ++different;
    }
  }
  for (const std::string& path : comparison.only_a)
    std::cout << Marked(path) << ": only in " << Marked(a) << "\n";
  for (const std::string& path : comparison.only_b)
    std::cout << Marked(path) << ": only in " << Marked(b) << "\n";
  std::cout << comparison.common.size() << " datasets in both, " << different << " differ, "
            << comparison.only_a.size() + comparison.only_b.size() << " in only one file\n";
  if (different + comparison.only_a.size() + comparison.only_b.size() > 0) return kNonconforming;
  return comparison.common.empty() ? kNothing : kVerified;
}

struct CompareArguments {
  std::vector<std::string> compared, recipes;
  Budget budget{.elements = size_t{1} << 16};
};

void PrintRow(const std::string& name, const oracle::Distribution& d) {
  std::cout << std::left << std::setw(40) << name << std::setw(12) << d.largest << std::setw(12)
            << d.p99 << d.rms << "\n";
}

void PrintRecipeDifference(const Case& c, const CompareArguments& options) {
  const ScopedBudget within(options.budget);
  const Tensors inputs = DrawInputs(c, NpyReader());
  const std::string &a = options.recipes[0], &b = options.recipes[1];
  const auto outputs = oracle::DifferencesOfRecipes(c, inputs, a, b, {});
  std::cout << c.ToString() << "\n" << std::setprecision(3);
  if (const auto sample = SampleIn(c))
    std::cout << "  of " << sample->elements << " of " << sample->all_elements << " elements\n";
  std::cout << std::left << std::setw(40) << "  in ulps of the output" << std::setw(12) << "largest"
            << std::setw(12) << "99 %"
            << "rms\n";
  for (const oracle::DifferenceOfOutput& output : outputs) {
    PrintRow("  " + output.output, output.measured);
    PrintRow("    both permit", output.permitted);
    for (const auto& step : output.steps)
      PrintRow("    " + step.step + ": " + step.rule + " -> " + step.other_rule, step.measured);
    if (output.steps.empty()) {
      if (output.measured.largest == 0) std::cout << "    no step changes a value here\n";
      continue;
    }
    std::cout << "    they differ at `" << output.steps[0].step
              << "`: " << output.steps[0].measured.p99 << " of the " << output.measured.p99
              << " ulps (99 %)\n";
  }
}

int CompareRecipes(const CompareArguments& options) {
  for (const std::string& recipe : options.recipes) ParseRecipe(recipe, DType::kF32);
  for (const Selected& selected : Select({.arguments = options.compared})) {
    PrintRecipeDifference(selected.c, options);
    FlushOutput();
  }
  return kVerified;
}

int CompareAny(const CompareArguments& options) {
  if (!options.recipes.empty()) return CompareRecipes(options);
  if (options.compared.size() == 2) return CompareFiles(options.compared[0], options.compared[1]);
  throw Error("compares two files or folders, got ", options.compared.size(),
              "; with --recipes A B it takes cases");
}

}  // namespace

Action BindCompare(CLI::App& app) {
  const auto options = std::make_shared<CompareArguments>();
  AddOption(app, "compared", options->compared,
            "two files or folders of parts; or, with --recipes, what `sextant check` takes",
            {.required = true});
  AddOption(app, "--recipes", options->recipes,
            "two recipes: by how much do answers differ, and at which step?", {.count = 2});
  AddOption(app, "--budget-elements", options->budget.elements,
            "with --recipes: about so many elements of each case at most; 0: all", {});
  return [options] { return CompareAny(*options); };
}

}  // namespace sextant::tools
