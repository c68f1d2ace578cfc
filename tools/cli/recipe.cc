// sextant recipe
#include <iomanip>
#include <iostream>
#include <memory>

#include "reference/base/count_text.h"
#include "reference/base/printable.h"
#include "tools/api/exit_status.h"
#include "tools/api/inferred_recipe.h"
#include "tools/api/replace.h"
#include "tools/api/subjects.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/json.h"

namespace sextant::tools {
namespace {

struct RecipeArguments {
  std::vector<std::string> cases, filters, excluded;
  std::string subject, recipe, json;
  ConfigChoice config;
  oracle::SubjectLimits limits;
  ProveOptions prove;
};

ExitStatus StatusOfRecipe(const InferredRecipe& inferred) {
  const bool conforms = inferred.found && inferred.still_failing.empty() &&
                        !inferred.found->has_other_errors;  // which permits a bug
  if (!conforms && !inferred.cases.empty()) return kNonconforming;
  if (inferred.could_not_run > 0) return kNotRun;
  const bool is_judged = inferred.found && inferred.found->judgeable > 0;
  return inferred.unsupported > 0 || !is_judged ? kIncomplete : kVerified;
}

// "fails by native in 4 of 24 cases, all at position >= 511"
std::string FailsText(const InferredRecipe& inferred) {
  std::string text = "fails by " + inferred.start + " in " +
                     std::to_string(inferred.failing.size()) + " of " +
                     CountText(inferred.cases.size(), "case");
  if (!inferred.where.empty()) text += ", all" + inferred.where;
  return text;
}

// "it adds by halves: no other order that was tried gives all bits of 64 elements"
void PrintOrder(const oracle::FoundOrder& order) {
  constexpr size_t kMostNamed = 3;
  const std::string elements = CountText(order.elements, "element");
  if (order.orders.empty()) {
    std::cout << "the bits are those of none of the orders of sums that were tried\n";
  } else if (order.orders.size() > kMostNamed) {
    std::cout << "the order of its sums does not show: " << order.orders.size()
              << " orders give all bits of " << elements << "\n";
  } else {
    std::cout << "it adds ";
    for (size_t i = 0; i < order.orders.size(); ++i)
      std::cout << (i == 0 ? "" : ", or ") << order.orders[i];
    std::cout << ": no other order that was tried gives all bits of " << elements;
    if (!order.recipe.empty()) std::cout << "; `" << order.recipe << "` says it";
    std::cout << "\n";
  }
}

void PrintFound(const InferredRecipe& inferred) {
  const auto& found = *inferred.found;
  const std::string by = "`" + found.recipe + "`";
  std::cout << Marked(inferred.subject)
            << (found.judgeable > 0 ? " conforms by "
                                    : " is not verified: no element could fail by ")
            << by;
  if (!inferred.still_failing.empty()) {
    std::cout << " in "
              << CountText(inferred.failing.size() - inferred.still_failing.size(), "more case");
  }
  if (!inferred.failing.empty()) std::cout << "; " << FailsText(inferred);
  std::cout << "\n";
  for (const std::string& other : found.others) std::cout << "or by `" << other << "`\n";
  if (found.recipe == inferred.start) return;
  std::cout << std::setprecision(3) << by << " permits " << found.ulps << " ulps, "
            << inferred.start << " " << found.ulps_before
            << (inferred.failing.empty() ? " (mean of the worst slices); "
                                         : " (mean of the worst failing slices); ")
            << found.judgeable << " of " << found.judgeable_before << " elements can still fail\n";
  if (found.has_other_errors)
    std::cout << "the errors are others than those of " << by
              << " itself, which permits them only because it permits much: a bug may look like "
                 "this\n";
  for (const oracle::Cause& cause : inferred.causes)
    std::cout << "likely cause: " << cause.name << " (" << cause.why << ")\n";
}

void PrintBits(const InferredRecipe& inferred) {
  const auto& [recipe, elements] = *inferred.of_bits;
  std::cout << "the own answers of `" << recipe << "` have the same bits in all "
            << CountText(elements, "element") << " that were compared";
  const bool is_found =
      inferred.failing.empty() || (inferred.found && inferred.found->recipe == recipe);
  if (!is_found) std::cout << ", but by it too few elements could fail";
  std::cout << "\n";
}

void PrintRecipe(const InferredRecipe& inferred) {
  for (const std::string& message : inferred.not_answered) std::cout << message << "\n";
  if (inferred.cases.empty()) return;
  if (inferred.found) {
    PrintFound(inferred);
  } else {
    std::cout << Marked(inferred.subject) << " " << FailsText(inferred)
              << "; no recipe with one or two changes explains it\n";
  }
  if (inferred.of_bits) PrintBits(inferred);
  if (inferred.order) PrintOrder(*inferred.order);
  const auto& failing = inferred.found ? inferred.still_failing : inferred.failing;
  for (const std::string& line : failing) std::cout << "  fails: " << line << "\n";
}

Json AsJson(const InferredRecipe& inferred) {
  Json json = {{"subject", Marked(inferred.subject)},
               {"start", inferred.start},
               {"cases", inferred.cases},
               {"unsupported", inferred.unsupported},
               {"could_not_run", inferred.could_not_run},
               {"fails_by_start", {{"cases", inferred.failing}, {"where", inferred.where}}},
               {"recipe", nullptr},
               {"order_of_sums", nullptr},
               {"exit_status", static_cast<int>(StatusOfRecipe(inferred))}};
  json["causes"] = Json::array();
  for (const oracle::Cause& cause : inferred.causes) json["causes"].push_back(cause.name);
  json["same_bits"] = nullptr;
  if (inferred.of_bits) {
    json["same_bits"] = {{"recipe", inferred.of_bits->recipe},
                         {"elements", inferred.of_bits->elements}};
  }
  if (inferred.order) {
    const auto& [orders, recipe, elements] = *inferred.order;
    json["order_of_sums"] = {{"orders", orders}, {"recipe", nullptr}, {"elements", elements}};
    if (!recipe.empty()) json["order_of_sums"]["recipe"] = recipe;
  }
  if (!inferred.found) return json;
  const auto& found = *inferred.found;
  json["recipe"] = {{"text", found.recipe},
                    {"changes", found.changes},
                    {"ulps", ToJson(found.ulps)},
                    {"ulps_of_start", ToJson(found.ulps_before)},
                    {"has_other_errors", found.has_other_errors},
                    {"others", found.others},
                    {"judgeable", found.judgeable},
                    {"judgeable_by_start", found.judgeable_before},
                    {"still_failing", inferred.still_failing}};
  return json;
}

int Infer(const RecipeArguments& options) {
  OutputFile json(options.json);  // first, so that no old report stays
  const std::vector<Selected> selected = Select({.arguments = options.cases,
                                                 .filters = options.filters,
                                                 .excluded = options.excluded,
                                                 .config = options.config});
  const oracle::Subject subject = MakeSubject(options.subject, options.limits);
  const std::string start = options.recipe.empty() ? subject.recipe : options.recipe;
  ParseRecipe(start, DType::kF32);  // throws Error before any case runs
  const InferredRecipe inferred =
      InferRecipe(selected, subject, {.start = start, .prove = options.prove});
  if (subject.close) subject.close();
  PrintRecipe(inferred);
  if (json) WriteJsonFile(AsJson(inferred), json);
  return StatusOfRecipe(inferred);
}

}  // namespace

Action BindRecipe(CLI::App& app) {
  const auto options = std::make_shared<RecipeArguments>();
  AddOption(app, "cases", options->cases,
            "files of cases, goldens (files or folders), or case lines", {.required = true});
  AddSubject(app, options->subject, options->recipe, options->limits);
  AddFilters(app, options->filters, options->excluded);
  AddConfig(app, options->config);
  AddReport(app, "--json", options->json, "write the result in JSON");
  AddProof(app, options->prove);
  return [options] { return Infer(*options); };
}

}  // namespace sextant::tools
