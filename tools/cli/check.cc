// sextant check
#include <filesystem>
#include <memory>

#include "oracle/judge/judge.h"
#include "tools/api/config_for.h"
#include "tools/api/judgement.h"
#include "tools/api/memory.h"
#include "tools/api/selection.h"
#include "tools/api/subjects.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/junit.h"
#include "tools/report/progress.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Subject;
using oracle::Verdict;

struct Options {
  std::vector<std::string> cases;
  std::string subject, recipe, filter, json, junit;
  ConfigChoice config;
  double timeout = 60;
  int threads = 0;
  bool strict = false;
  bool open_rows = false;
};

Verdict NotJudged(const Case& c, Verdict::Status status, const std::string& why) {
  return {.case_line = c.ToString(),
          .status = status,
          .message = why,
          .tensors = {},
          .trace = {},
          .causes = {}};
}

Verdict JudgeOne(const Selected& selected, const Subject& subject, const std::string& recipe_text,
                 int threads) {
  const Case& c = selected.c;
  const Recipe recipe = ParseRecipe(recipe_text, c.dtype());
  const Tensors inputs = InputsOf(selected);
  const Answer answer = AnswerOf(subject, c, inputs);
  if (answer.status == Answer::Status::kUnsupported)
    return NotJudged(c, Verdict::Status::kUnsupported, answer.message);
  if (answer.status == Answer::Status::kFailed)
    return NotJudged(c, Verdict::Status::kCouldNotRun, answer.message);
  const bool stored = selected.record && !selected.record->golden.empty();
  const ProveOptions options{.threads = threads};
  auto golden = stored ? selected.record->golden : Prove(c, inputs, recipe, options);
  const oracle::Judge judge(c, inputs, recipe, std::move(golden), options);
  return JudgeOutputs(judge, c, inputs, recipe, answer.outputs, options);
}

// --open-rows: a case conforms if it is unverified only because of rows that no answer could fail.
void AcceptOpenRows(Verdict& verdict) {
  if (verdict.status != Verdict::Status::kUnverified || !verdict.open_rows_acceptable) return;
  verdict.status = Verdict::Status::kConforms;
  verdict.message.clear();
}

void RequireTwoFiles(const Options& options) {
  const auto file_of = [](const std::string& path) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path));
  };
  if (options.json.empty() || options.junit.empty()) return;
  if (file_of(options.json) == file_of(options.junit))
    throw Error("--json and --junit both name ", options.json, ", expected two files");
}

int Check(const Options& options) {
  const std::vector<Selected> selected =
      Select({.arguments = options.cases, .filter = options.filter, .config = options.config});
  if (selected.empty()) return NothingToDo(kNoCase);
  RequireTwoFiles(options);
  OutputFile json(options.json), junit(options.junit);
  const Subject subject = MakeSubject(options.subject, options.timeout);
  Report report{.subject = subject.name,
                .recipe = options.recipe.empty() ? subject.recipe : options.recipe,
                .strict = options.strict,
                .timeout = options.timeout == Options().timeout ? "" : PrintValue(options.timeout)};
  ParseRecipe(report.recipe, DType::kF32);  // throws Error for a wrong recipe before any case runs
  {
    Progress progress("judging");
    for (const Selected& s : selected) {
      report.verdicts.push_back(
          WithinMemory(s.c, [&] { return JudgeOne(s, subject, report.recipe, options.threads); }));
      progress(static_cast<double>(report.verdicts.size()) / static_cast<double>(selected.size()));
    }
  }
  if (subject.close) report.after_last_answer = subject.close();
  if (options.open_rows) {
    for (Verdict& verdict : report.verdicts) AcceptOpenRows(verdict);
  }
  for (const Verdict& verdict : report.verdicts) PrintVerdict(report, verdict);
  PrintSummary(report);
  if (json) WriteJson(report, json);
  if (junit) WriteJunit(report, junit);
  return report.Status() == kNothing ? NothingToDo(kNoElement) : report.Status();
}

}  // namespace

Action BindCheck(CLI::App& app) {
  const auto options = std::make_shared<Options>();
  AddOption(app, "cases", options->cases, "files of cases, golden files, or case lines",
            {.required = true});
  AddSubject(app, options->subject, options->recipe, options->timeout);
  AddOption(app, "--filter", options->filter,
            "only cases whose line contains this text, or matches this pattern (* and ?)");
  AddConfig(app, options->config);
  AddFlag(app, "--strict", options->strict, "cases of grade `unlikely` fail");
  AddFlag(app, "--open-rows", options->open_rows,
          "accept rows and optional outputs in which no element could have failed; without this "
          "option they make a case unverified");
  AddOutput(app, "--json", options->json, "write a report in JSON");
  AddOutput(app, "--junit", options->junit, "write a report in JUnit XML");
  AddThreads(app, options->threads);
  return [options] { return Check(*options); };
}

}  // namespace sextant::tools
