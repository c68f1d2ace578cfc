#include "oracle/catalog/defect_subject.h"

#include <algorithm>

#include "oracle/catalog/catalog.h"
#include "oracle/defect/coverage_goal.h"
#include "reference/base/count_text.h"
#include "reference/base/did_you_mean.h"
#include "reference/case/former_names.h"
#include "reference/case/operations.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {
namespace {

Subject LossySubject(const std::string& operation, const CoverageGoal& goal) {
  return {"defect:" + operation + "/" + goal.name, "native",
          [operation, goal](const Case& c, const Tensors& inputs) {
            Answer answer{
                .message = "",
                .outputs = EvaluateByRecipe({c, inputs, ParseRecipe("native", c.dtype())})};
            if (c.name() != operation) return answer;
            auto losses = goal.losses(c, inputs, answer.outputs);
            if (!losses.empty()) answer.outputs = std::move(losses[0]);
            return answer;
          },
          nullptr, operation};
}

// "; its 40 defects: a b ...": some operations have 170 defects and 1000 coverage goals.
std::string FirstNames(const auto& all, const char* what) {
  constexpr size_t kShown = 8;
  std::string text = "; its " + CountText(all.size(), what) + (all.empty() ? "" : ":");
  for (size_t i = 0; i < std::min(kShown, all.size()); ++i) text += " " + all[i].name;
  return text + (all.size() > kShown ? " ..." : "");
}

}  // namespace

Subject DefectSubject(const std::string& operation_and_defect) {
  const size_t slash = operation_and_defect.find('/');
  if (slash == std::string::npos)
    throw Error("'", operation_and_defect, "' is not OPERATION/DEFECT");
  const std::string operation = operation_and_defect.substr(0, slash);
  RequireNamesOfToday("defect:" + operation_and_defect, operation);
  const std::string name = operation_and_defect.substr(slash + 1);
  MakeOperationNamed(operation);  // throws Error for a mistyped one
  const auto& goals = CoverageGoalsOf(std::string_view(operation));
  const auto goal = std::ranges::find(goals, name, &CoverageGoal::name);
  if (goal != goals.end()) return LossySubject(operation, *goal);
  std::vector<Defect> defects = CatalogEntryOf(operation).defects;
  const auto at = std::ranges::find(defects, name, &Defect::name);
  if (at == defects.end()) {
    std::vector<std::string> names;
    for (const Defect& defect : defects) names.push_back(defect.name);
    std::ranges::stable_sort(defects, {}, [near = name.substr(0, 64)](const Defect& defect) {
      return EditDistance(near, defect.name);
    });
    throw Error(operation, " has no defect or coverage goal '", name, "'", DidYouMean(name, names),
                FirstNames(defects, "defect"), FirstNames(goals, "coverage goal"),
                " (sextant audit-suite ", operation, " lists all)");
  }
  return {"defect:" + operation_and_defect, "native",
          [operation, defect = *at](const Case& c, const Tensors& inputs) {
            const Recipe recipe = ParseRecipe("native", c.dtype());
            std::optional<Hypothesis> hypothesis;
            if (c.name() == operation) hypothesis = defect.hypothesis(c, inputs, recipe);
            return Answer{.message = "",
                          .outputs = hypothesis ? Predict(*hypothesis, c)
                                                : EvaluateByRecipe({c, inputs, recipe})};
          },
          nullptr, operation};
}

}  // namespace sextant::oracle
