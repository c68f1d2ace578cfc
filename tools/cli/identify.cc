// sextant identify
#include "oracle/identify/identify.h"

#include <cmath>
#include <iostream>
#include <memory>
#include <sstream>

#include "oracle/audit/suggest.h"
#include "oracle/identify/probe.h"
#include "reference/base/count_text.h"
#include "tools/api/config_for.h"
#include "tools/api/exit_status.h"
#include "tools/api/judgement.h"
#include "tools/api/replace.h"
#include "tools/api/subjects.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/json.h"
#include "tools/report/report.h"

namespace sextant::tools {
namespace {

using oracle::Claim;
using oracle::Exchange;
using oracle::Identity;

struct Options {
  std::string line, subject, recipe, json;
  ConfigChoice against;
  double timeout = 60;
  ProveOptions prove;
};

// An attribute that the subject does not compute as the model says.
struct Difference {
  std::string attribute, model, found;
};

struct Result {
  Identity identity;
  std::vector<Difference> differences;  // from the model; empty without one
  std::vector<std::string> details;     // of the first answer that fails
};

std::vector<std::string> RecipesFrom(const std::string& first) {
  std::vector<std::string> recipes = {first};
  for (const StandardRecipe& standard : StandardRecipes()) recipes.emplace_back(standard.name);
  return recipes;
}

std::vector<Difference> DifferencesFrom(const Case& model, const Case& found) {
  std::vector<Difference> differences;
  const Claim other = oracle::ClaimOf(found);
  for (const auto& [attribute, text] : oracle::ClaimOf(model)) {
    if (other.at(attribute) != text) differences.push_back({attribute, text, other.at(attribute)});
  }
  return differences;
}

// What a failing `check` of the nearest claim says about the first answer that fails.
std::vector<std::string> DetailsOf(const Identity& identity, const std::string& recipe_text) {
  std::vector<Exchange> all = identity.witnesses;
  all.insert(all.end(), identity.unseen.begin(), identity.unseen.end());
  for (const Exchange& witness : all) {
    const Case c = witness.c.With(oracle::WordsOf(oracle::ClaimOf(identity.c)));
    const Recipe recipe = ParseRecipe(recipe_text, c.dtype());
    const oracle::Judge judge(c, witness.inputs, recipe);
    const oracle::Verdict verdict = JudgeOutputs(judge, c, witness.inputs, recipe, witness.answer);
    if (verdict.status != oracle::Verdict::Status::kFails) continue;
    std::vector<std::string> lines = {c.ToString()};
    std::istringstream details(Details(verdict));
    for (std::string line; std::getline(details, line);) lines.push_back(line);
    return lines;
  }
  return {};
}

// The line of a question without what only says how it was asked.
std::string LineOf(const Case& c) {
  std::istringstream words(oracle::ShortestLine(c));
  std::string line;
  for (std::string word; words >> word;) {
    if (word[0] == '@' || word.starts_with("seed=")) continue;
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

std::string TextOf(const oracle::NumberRange& range) {
  if (range.least == 0 && std::isinf(range.most)) return range.attribute + ": any number conforms";
  std::string text = range.attribute + ": ";
  if (range.least == 0) return text + "every number up to " + PrintValue(range.most) + " conforms";
  if (std::isinf(range.most))
    return text + "every number from " + PrintValue(range.least) + " conforms";
  return text + PrintValue(range.least) + " to " + PrintValue(range.most) + " conform";
}

void PrintConforming(const Identity& identity) {
  std::cout << LineOf(identity.c) << "\n  conforms by " << identity.recipe << ": "
            << CountText(identity.judged, "element") << " of "
            << CountText(identity.witnesses.size() + identity.unseen.size(), "answer")
            << " could have failed\n";
  if (identity.nearest) {
    std::cout << "  these frequencies are measured; no known scaling gives them. The nearest is\n  "
              << LineOf(*identity.nearest) << "\n";
  }
  for (const oracle::NumberRange& range : identity.numbers)
    std::cout << "  " << TextOf(range) << "\n";
  for (const std::string& word : identity.equal)
    std::cout << "  the same answers: " << word << "\n";
}

void Print(const Result& result, const Options& options) {
  const auto& [identity, differences, details] = result;
  if (!identity.recipe.empty()) {
    PrintConforming(identity);
  } else {
    std::cout << "no attributes of " << identity.c.name()
              << " give these answers; the nearest are\n"
              << LineOf(identity.c) << "\n";
    for (const std::string& line : details) std::cout << "  " << line << "\n";
  }
  if (options.against.path.empty()) return;
  if (differences.empty() && !identity.recipe.empty())
    std::cout << "agrees with " << options.against.path << "\n";
  for (const Difference& difference : differences) {
    std::cout << "differs from " << options.against.path << ": " << difference.attribute << "="
              << difference.found << ", but the model has " << difference.attribute << "="
              << difference.model << "\n";
  }
}

int StatusOf(const Result& result) {
  return result.identity.recipe.empty() || !result.differences.empty() ? kNonconforming : kVerified;
}

Json AsJson(const Result& result, const Options& options) {
  const auto& [identity, differences, details] = result;
  Json json = {{"subject", options.subject},
               {"case", LineOf(identity.c)},
               {"conforms", !identity.recipe.empty()},
               {"recipe", identity.recipe},
               {"judged", identity.judged},
               {"nearest", nullptr},
               {"questions", Json::array()},
               {"numbers", Json::array()},
               {"equal", identity.equal},
               {"details", details},
               {"differences", Json::array()},
               {"exit_status", StatusOf(result)}};
  if (identity.nearest) json["nearest"] = LineOf(*identity.nearest);
  for (const auto* witnesses : {&identity.witnesses, &identity.unseen}) {
    for (const Exchange& witness : *witnesses) json["questions"].push_back(witness.c.ToString());
  }
  for (const auto& [attribute, value, least, most] : identity.numbers) {
    json["numbers"].push_back({{"attribute", attribute},
                               {"value", ToJson(value)},
                               {"least", ToJson(least)},
                               {"most", ToJson(most)}});
  }
  for (const auto& [attribute, model, found] : differences)
    json["differences"].push_back({{"attribute", attribute}, {"model", model}, {"subject", found}});
  return json;
}

int IdentifySubject(const Options& options) {
  OutputFile json(options.json);  // first, so that no old report stays
  const std::vector<Case> questions = oracle::ProbesOf(CompleteLine(options.line, options.against));
  const std::set<std::string> told = oracle::KeysOf(options.line);
  const oracle::Subject subject = MakeSubject(options.subject, options.timeout, told);
  const std::string recipe = options.recipe.empty() ? subject.recipe : options.recipe;
  ParseRecipe(recipe, DType::kF32);  // throws Error before any question is asked
  const auto ask = [&](const Case& c, const Tensors& inputs) {
    return AnswerOf(subject, c, inputs);
  };
  Result result{
      .identity = oracle::Identify(
          questions, ask,
          {.recipes = RecipesFrom(recipe), .known = told, .threads = options.prove.threads}),
      .differences = {},
      .details = {}};
  if (subject.close) subject.close();
  if (!options.against.path.empty())
    result.differences = DifferencesFrom(questions[0], result.identity.c);
  if (result.identity.recipe.empty()) result.details = DetailsOf(result.identity, recipe);
  Print(result, options);
  if (json) WriteJsonFile(AsJson(result, options), json);
  return StatusOf(result);
}

}  // namespace

Action BindIdentify(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  AddOption(app, "operation", options->line,
            "the operation, and the words that are known: 'rope D=128 dtype=bf16'",
            {.required = true});
  AddSubject(app, options->subject, options->recipe, options->timeout);
  AddPath(app, "--against", options->against.path,
          "a Hugging Face config.json: does the subject compute what this model needs?");
  AddOption(app, "--part", options->against.part,
            "JSON object to read instead of the text decoder, for example vision_config",
            {.needs = "--against"});
  AddOption(app, "--layer", options->against.layer,
            "layers to use if they differ: the name of their kind or a layer number",
            {.needs = "--against"});
  AddReport(app, "--json", options->json, "write the result in JSON");
  AddProof(app, options->prove);
  return [options] { return IdentifySubject(*options); };
}

}  // namespace sextant::tools
