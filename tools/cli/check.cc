// sextant check
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>

#include "oracle/subject/exec_client.h"
#include "reference/base/count_text.h"
#include "tools/api/completed_line.h"
#include "tools/api/judge_cases.h"
#include "tools/api/line_stream.h"
#include "tools/api/memory_to_judge.h"
#include "tools/api/selection.h"
#include "tools/api/subjects.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/cli/output.h"
#include "tools/report/junit.h"
#include "tools/report/markdown.h"
#include "tools/report/progress.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"

namespace sextant::tools {
namespace {

using oracle::Subject;
using oracle::Verdict;

struct CheckArguments {
  std::vector<std::string> cases, filters, excluded;
  std::string with, subject, recipe, json, json_lines, junit, html, expect, write_expect;
  ConfigChoice config;
  double timeout = 60;
  ProveOptions prove;
  bool strict = false, open_rows = false, supported_only = false;
  bool fail_fast = false, verbose = false, sampled_is_enough = false;
  double budget_seconds = 0;  // 0: no limit
  Budget budget{};
  std::optional<uint64_t> fresh;
};

std::string RequireNewFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    throw Error(path,
                " exists, and --write-expect would replace the reasons in it; "
                "expected the name of a new file");
  }
  return path;
}

// The files that the run writes.
struct Outputs {
  explicit Outputs(const CheckArguments& options)
      : json(options.json),
        junit(options.junit),
        html(options.html),
        lines(options.json_lines),
        expectations(RequireNewFile(options.write_expect)) {}
  OutputFile json, junit, html;
  LineStream lines;
  OutputFile expectations;
  bool Any() const { return json || junit || html || expectations || lines; }
};

void RequireDifferentFiles(const CheckArguments& options) {
  std::map<std::filesystem::path, std::string> option_of;
  const std::pair<const char*, const std::string&> files[] = {
      {"--expect", options.expect}, {"--write-expect", options.write_expect},
      {"--json", options.json},     {"--json-lines", options.json_lines},
      {"--junit", options.junit},   {"--html", options.html}};
  for (const auto& [option, path] : files) {
    if (path.empty() || path == "-") continue;
    std::error_code none;  // a pipe (/dev/fd/63) has no canonical path
    auto file = std::filesystem::weakly_canonical(std::filesystem::absolute(path), none);
    if (none) file = path;
    const auto [at, is_new] = option_of.emplace(file, option);
    if (!is_new)
      throw Error(at->second, " and ", option, " both name ", path, ", expected two files");
  }
  std::vector<std::string> inputs = options.cases;
  inputs.insert(inputs.end(), {options.config.path, options.subject});
  for (const std::string& output : {options.json, options.json_lines, options.junit, options.html})
    RequireNoInput(output, inputs);
}

// --supported-only accepts operations, shapes and dtypes that the subject declines: not that it
// declines inputs that it has not seen.
void RefuseNewDecline(const Verdict& committed, Verdict& fresh) {
  if (fresh.status != Verdict::Status::kUnsupported || fresh.status == committed.status) return;
  fresh.status = Verdict::Status::kUnverified;
  fresh.message = "declined with fresh inputs, but not with the committed ones: " + fresh.message;
}

// Judges the cases in order; each verdict is reported as soon as it is known.
void JudgeAll(const std::vector<Selected>& selected, const Subject& subject,
              const CheckArguments& options, Outputs& outputs, Report& report) {
  const bool text_to_stderr = outputs.lines.IsStandardOutput();
  const TextOutput text{text_to_stderr ? std::cerr : std::cout, options.verbose,
                        isatty(text_to_stderr ? STDERR_FILENO : STDOUT_FILENO) == 1};
  const bool is_bounded = options.budget_seconds > 0 || options.budget.elements > 0;
  Progress progress("judging",
                    is_bounded ? "" : "--budget SECONDS judges a random part of large cases");
  ProveOptions prove = options.prove;
  if (selected.size() == 1) prove.progress = std::ref(progress);
  TimeBudget time(options.budget_seconds, selected.size());
  const auto take = [&](Verdict judged) {
    if (report.CommittedOf(judged)) RefuseNewDecline(report.verdicts.back(), judged);
    report.verdicts.push_back(std::move(judged));
    const Verdict& verdict = report.verdicts.back();
    progress.Clear();
    PrintVerdict(report, verdict, text);
    if (outputs.Any()) {
      std::cout.flush();  // the reports become complete although nobody reads the text
    } else {
      FlushOutput();
    }
    if (outputs.lines) outputs.lines.Write(JsonLineOf(report, verdict));
    progress(static_cast<double>(report.verdicts.size()) / static_cast<double>(selected.size()));
    return !(options.fail_fast && report.IsFailure(verdict));
  };
  JudgeCases({.cases = selected,
              .subject = subject,
              .options = {.recipe = report.recipe,
                          .prove = prove,
                          // A right kernel of others meets rows in which no answer could fail.
                          .open_rows = options.open_rows              ? OpenRows::kAccepted
                                       : IsInProcess(options.subject) ? OpenRows::kRefused
                                                                      : OpenRows::kFew,
                          .budget = options.budget,
                          .time = options.budget_seconds > 0 ? &time : nullptr},
              .side_by_side = IsInProcess(options.subject) && options.budget_seconds == 0},
             take);
}

// `unselected`: lines of cases that the filters leave out.
void ReadExpectations(const std::string& path, const std::vector<Selected>& selected,
                      const std::vector<std::string>& unselected, Report& report) {
  if (path.empty()) return;
  report.expectations = Expectations::Read(path);
  std::vector<std::string> lines = unselected;
  for (const Selected& s : selected) {
    report.expectations.RequireNames(s.c);
    lines.push_back(s.c.ToString());
  }
  report.stale_expectations = report.expectations.StaleEntries(lines);
}

// Entries are stale if their cases conform, none has the result that they expect, and all of them
// were judged.
void AddRepaired(const std::vector<std::string>& unselected, Report& report) {
  const Expectations& known = report.expectations;
  for (const Expectation& entry : known.entries()) {
    const auto is_left_out = [&](const std::string& line) { return known.For(line) == &entry; };
    if (report.not_reached > 0 || std::ranges::any_of(unselected, is_left_out)) continue;
    size_t conforming = 0;
    bool may_be_right = false;
    for (const Verdict& verdict : report.verdicts) {
      const std::string* committed = report.CommittedOf(verdict);
      if (known.For(committed ? *committed : verdict.case_line) != &entry) continue;
      const Outcome outcome = OutcomeOf(verdict, report.strict);
      conforming += outcome == Outcome::kConforms;
      may_be_right = may_be_right || verdict.sample || outcome == entry.outcome;
    }
    if (conforming > 0 && !may_be_right)
      report.stale_expectations.push_back(
          entry.where + ": remove this entry, none of its cases is '" +
          std::string(NameOf(entry.outcome)) + "': cases = \"" + entry.cases + "\"");
  }
}

// The verdicts that make the exit status differ from 0.
std::vector<Verdict> ToExpect(const Report& report) {
  std::vector<Verdict> verdicts;
  for (const Verdict& verdict : report.verdicts) {
    const Result result = report.Assess(verdict).result;
    const bool accepted = result == Result::kPasses || result == Result::kInPart ||
                          (result == Result::kUnsupported && report.supported_only);
    if (!accepted) verdicts.push_back(verdict);
  }
  return verdicts;
}

// Empty if it does not start: the report then says why.
std::optional<Subject> Started(const CheckArguments& options, Report& report) try {
  return MakeSubject(options.subject, options.timeout);
} catch (const oracle::Failure& e) {
  std::cerr << "sextant: " << kNotStarted << e.what() << "\n";
  report.not_started = e.what();
  return std::nullopt;
}

void WriteReports(const Report& report, Outputs& outputs) {
  PrintSummary(report, outputs.lines.IsStandardOutput() ? std::cerr : std::cout);
  if (outputs.lines) outputs.lines.Write(SummaryJsonLine(report));
  if (outputs.json) WriteJson(report, outputs.json);
  if (outputs.junit) WriteJunit(report, outputs.junit);
  if (outputs.html) WritePage(report, outputs.html);
  if (outputs.expectations && report.not_started.empty()) {
    outputs.expectations.Write(
        [&](std::ostream& out) { out << ExpectationsOf(ToExpect(report), report.strict); });
  }
  AppendStepSummary(report);
}

// For fixtures/cases/attention.cases the file fixtures/cases/real/attention.cases, for "attention"
// the name "real/attention".
std::vector<std::string> RealCasesBeside(const std::vector<std::string>& arguments) {
  std::vector<std::string> files;
  for (const std::filesystem::path argument : arguments) {
    const std::string real = argument.parent_path() / "real" / argument.filename();
    std::error_code none;  // a case line may be too long for a name
    if (std::filesystem::is_regular_file(CasesNamed(real), none)) files.push_back(real);
  }
  return files;
}

int Check(const CheckArguments& options) {
  RequireDifferentFiles(options);
  Outputs outputs(options);  // first, so that no old report stays
  if (options.fresh && options.subject.starts_with("files:"))
    throw Error("--fresh asks new questions, to which ", options.subject, " has no answers");
  std::vector<std::string> unselected;
  Replaced replaced;
  std::vector<std::string> notes;
  const Selection selection{.arguments = options.cases,
                            .filters = options.filters,
                            .excluded = options.excluded,
                            .config = options.config,
                            .left_out = &unselected,
                            .with = options.with,
                            .replaced = &replaced,
                            .notes = &notes};
  std::vector<Selected> selected = Select(selection);
  if (selected.empty()) return NothingToDo(WhyNoCase(selection, unselected));
  Report report{
      .subject = options.subject,
      .recipe = options.recipe,
      .strict = options.strict,
      .timeout = options.timeout == CheckArguments().timeout ? "" : PrintValue(options.timeout),
      .supported_only = options.supported_only,
      .budget_seconds = options.budget_seconds,
      .budget = options.budget,
      .sampled_is_enough = options.sampled_is_enough,
      .with = options.with,
      .replaced = std::move(replaced),
      .real_cases = RealCasesBeside(options.cases),
      .notes = std::move(notes)};
  ReadExpectations(options.expect, selected, unselected, report);
  if (options.fresh) report.fresh = AddFreshCases(*options.fresh, selected);
  if (!options.recipe.empty()) ParseRecipe(options.recipe, DType::kF32);  // throws Error
  if (const auto subject = Started(options, report)) {
    if (options.recipe.empty()) report.recipe = subject->recipe;
    for (const Selected& one : selected) {
      const std::string note = one.record ? "" : MemoryNote(one.c, *subject, options.prove);
      if (!note.empty()) std::cerr << "sextant: " << note << "\n";
    }
    JudgeAll(selected, *subject, options, outputs, report);
    if (subject->close) report.after_last_answer = subject->close();
  }
  report.not_reached = selected.size() - report.verdicts.size();
  AddRepaired(unselected, report);
  WriteReports(report, outputs);
  return report.Status() == kNothing ? NothingToDo(kNoElement) : report.Status();
}

void AddSelection(CLI::App& app, CheckArguments& options) {
  AddOption(app, "cases", options.cases,
            "names of operations, files of cases, golden files, or case lines", {.required = true});
  AddSubject(app, options.subject, options.recipe, options.timeout);
  AddFilters(app, options.filters, options.excluded);
  AddOption(app, "--with", options.with,
            "set these words in every selected case line, for example 'D=64 dtype=bf16'; cases "
            "in which they are not valid are counted as not applicable",
            {});
  AddConfig(app, options.config);
}

void AddFresh(CLI::App& app, CheckArguments& options) {
  AddSeedFlag(app, "--fresh", options.fresh,
              "judge each case also with inputs drawn anew, by a seed that the report says: "
              "--fresh=SEED draws the same again",
              {.excludes = "--write-expect"});
}

void AddBudget(CLI::App& app, CheckArguments& options) {
  AddOption(app, "--budget", options.budget_seconds,
            "judge large cases in part, a random one, for about so many seconds in all, without "
            "the time of the subject; the exit status is then 5",
            {.least = 0.001, .most = 1e9});
  AddOption(app, "--budget-elements", options.budget.elements,
            "judge about so many elements of each case at most; 0: all", {});
  AddOption(app, "--seed", options.budget.seed,
            "chooses the part of --budget and --budget-elements", {});
  AddFlag(app, "--sampled-is-enough", options.sampled_is_enough,
          "accept cases of which only a part was judged");
}

}  // namespace

Action BindCheck(CLI::App& app) {
  const auto options = std::make_shared<CheckArguments>();
  AddSelection(app, *options);
  AddFlag(app, "--strict", options->strict,
          "cases of grade `unlikely`, and those with loosely enclosed elements, fail");
  AddFlag(app, "--open-rows", options->open_rows,
          "accept rows and optional outputs in which no element could have failed, as of lib: and "
          "exec:; of other subjects they make a case unverified without this option");
  AddFlag(app, "--supported-only", options->supported_only,
          "count unsupported cases by reason and accept them; something must be judged");
  AddFlag(app, "--fail-fast", options->fail_fast,
          "stop after the first case that fails or could not run, unless it is expected");
  AddFlag(app, "-v,--verbose", options->verbose,
          "one line also for each case that conforms, and every failure of one cause");
  AddPath(app, "--expect", options->expect,
          "a TOML file of expected results: the exit status is 0 if every case has its expected "
          "result (tools/report/README.md)");
  AddPath(app, "--write-expect", options->write_expect,
          "write a new file for --expect, which expects the results of this run",
          {.excludes = "--expect"});
  AddReport(app, "--json", options->json, "write a report in JSON");
  AddReport(app, "--json-lines", options->json_lines,
            "write one line of JSON for each verdict as it comes, and one for the summary at the "
            "end; - is standard output, and then the text goes to standard error");
  AddReport(app, "--junit", options->junit, "write a report in JUnit XML");
  AddReport(app, "--html", options->html, "write a report as one HTML page, without network");
  AddFresh(app, *options);
  AddBudget(app, *options);
  AddProof(app, options->prove);
  return [options] { return Check(*options); };
}

}  // namespace sextant::tools
