// sextant tolerance
#include "oracle/tolerance/tolerance.h"

#include <algorithm>
#include <iostream>
#include <memory>

#include "reference/case/out_of_memory.h"
#include "tools/api/exit_status.h"
#include "tools/api/replace.h"
#include "tools/api/selection.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/cli/output.h"
#include "tools/report/json.h"
#include "tools/report/tolerance_report.h"

namespace sextant::tools {
namespace {

struct ToleranceArguments {
  std::vector<std::string> cases, filters, excluded;
  std::string recipe = "native", json;
  ConfigChoice config;
  oracle::Tolerance tolerance{-1, -1};  // not given
  Budget budget{.elements = size_t{1} << 16};
  ProveOptions prove;
};

int Grade(const ToleranceArguments& options) {
  RequireNoInput(options.json, options.cases);
  OutputFile json(options.json);  // first, so that no old report stays
  ParseRecipe(options.recipe, DType::kF32);
  if (options.tolerance.atol < 0 && options.tolerance.rtol < 0)
    throw Error("the tolerance is missing: --atol, --rtol, or both");
  const oracle::Tolerance tolerance{std::max(0.0, options.tolerance.atol),
                                    std::max(0.0, options.tolerance.rtol)};
  const std::vector<Selected> selected = Select({.arguments = options.cases,
                                                 .filters = options.filters,
                                                 .excluded = options.excluded,
                                                 .config = options.config});
  Json report = Json::array();
  bool is_good = true, is_complete = true;
  size_t elements = 0;
  for (const Selected& s : selected) {
    if (s.c.info().HasChoices()) {
      if (selected.size() == 1) throw Error(oracle::WhyNoTolerance(s.c));
      std::cout << s.c.ToString() << "\n  " << oracle::WhyNoTolerance(s.c) << "\n";
      is_complete = false;
      continue;
    }
    const ScopedBudget within(options.budget);
    const oracle::ToleranceGrade grade = WithinMemory(s.c, [&] {
      return oracle::GradeTolerance(s.c, InputsOf(s), ParseRecipe(options.recipe, s.c.dtype()),
                                    tolerance, options.prove);
    });
    const std::string line = s.c.ToString();
    std::cout << TextOf(grade, tolerance, line, options.recipe);
    FlushOutput();
    report.push_back(ToJson(grade, tolerance, line, options.recipe));
    is_good = is_good && (grade.IsGood() || grade.elements == 0);
    is_complete = is_complete && !grade.sample && grade.elements > 0;
    elements += grade.elements;
  }
  if (json) WriteJsonFile(report, json);
  if (elements == 0) return NothingToDo(kNoElement);
  if (!is_good) return kNonconforming;
  return is_complete ? kVerified : kIncomplete;
}

}  // namespace

Action BindTolerance(CLI::App& app) {
  const auto options = std::make_shared<ToleranceArguments>();
  AddOption(app, "cases", options->cases, "case lines, or files of cases", {.required = true});
  AddOption(app, "--atol", options->tolerance.atol,
            "the absolute part: |answer - expected| <= atol + rtol |expected|", {.least = 0});
  AddOption(app, "--rtol", options->tolerance.rtol, "the relative part", {.least = 0});
  AddOption(app, "--recipe", options->recipe,
            "of the implementation that is tested: how it rounds (reference/RECIPES.md)");
  AddFilters(app, options->filters, options->excluded);
  AddConfig(app, options->config);
  AddOption(app, "--budget-elements", options->budget.elements,
            "grade by about so many elements of a case, a random part of it (65536); 0: all", {});
  AddOption(app, "--seed", options->budget.seed, "chooses the part", {});
  AddReport(app, "--json", options->json, "write the grades in JSON");
  AddProof(app, options->prove);
  return [options] { return Grade(*options); };
}

}  // namespace sextant::tools
