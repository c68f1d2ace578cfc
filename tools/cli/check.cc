// sextant check
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>

#include "fixtures/store/digest.h"
#include "oracle/subject/exec_client.h"
#include "tools/api/adversarial.h"
#include "tools/api/judge_cases.h"
#include "tools/api/memory_of_case.h"
#include "tools/api/named_cases.h"
#include "tools/api/selection.h"
#include "tools/api/subjects.h"
#include "tools/cli/check_arguments.h"
#include "tools/cli/check_report.h"
#include "tools/cli/commands.h"
#include "tools/cli/output.h"
#include "tools/report/progress.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"

namespace sextant::tools {
namespace {

using oracle::Subject;
using oracle::Verdict;

// --supported-only accepts operations, shapes and dtypes that the subject declines: not that it
// declines inputs that it has not seen.
void RefuseNewDecline(const Verdict& committed, Verdict& fresh) {
  if (fresh.status != Verdict::Status::kUnsupported || fresh.status == committed.status) return;
  fresh.status = Verdict::Status::kUnverified;
  fresh.message = "declined with fresh inputs, but not with the committed ones: " + fresh.message;
}

// Judges the cases in order; each verdict is reported as soon as it is known.
void JudgeAll(const std::vector<Selected>& selected, const Subject& subject,
              const CheckArguments& options, CheckOutputs& outputs, Report& report) {
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
    if (options.fresh && report.CommittedOf(judged))
      RefuseNewDecline(report.verdicts.back(), judged);
    report.verdicts.push_back(std::move(judged));
    report.not_reached = selected.size() - report.verdicts.size();
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
  const JudgeSubjectOptions how{
      .recipe = report.recipe,
      .prove = prove,
      // A right kernel of others meets rows in which no answer could fail.
      .open_rows = options.open_rows              ? OpenRows::kAccepted
                   : IsInProcess(options.subject) ? OpenRows::kRefused
                                                  : OpenRows::kFew,
      .verify = options.verify,
      .budget = options.budget,
      .memory = options.memory,
      .time = options.budget_seconds > 0 ? &time : nullptr};
  if (options.adversarial) return AttackCases({selected, subject, how}, *report.fresh, take);
  JudgeCases({.cases = selected,
              .subject = subject,
              .options = how,
              .side_by_side = IsInProcess(options.subject) && options.budget_seconds == 0},
             take);
}

// Empty if it does not start: the report then says why.
std::optional<Subject> Started(const CheckArguments& options, Report& report) try {
  return MakeSubject(options.subject, options.limits);
} catch (const oracle::Failure& e) {
  std::cerr << "sextant: " << kNotStarted << e.what() << "\n";
  report.not_started = e.what();
  return std::nullopt;
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

std::vector<Case> CasesOf(const std::vector<Selected>& selected) {
  std::vector<Case> cases;
  for (const Selected& s : selected) cases.push_back(s.c);
  return cases;
}

// Keeps the cases of one shard; the lines of the others are added to `unselected`.
std::optional<JudgedShare> TakeShare(const CheckArguments& options, std::vector<Selected>& selected,
                                     std::vector<std::string>& unselected) {
  NoteShard(options.shard);
  const Shard shard = ShardOf(options.shard);
  if (options.shard.empty()) return std::nullopt;
  std::vector<double> costs;
  std::string lines;
  for (const Selected& s : selected) {
    costs.push_back(CostOfCase(s.c));
    lines += s.c.ToString() + "\n";
  }
  JudgedShare share{shard, selected.size(), fixtures::DigestOf(lines)};
  const std::vector<size_t> dealt = DealtTo(costs, shard.count);
  std::vector<Selected> own;
  for (size_t i = 0; i < selected.size(); ++i) {
    if (dealt[i] != shard.index) {
      unselected.push_back(selected[i].c.ToString());
    } else {
      own.push_back(std::move(selected[i]));
      share.positions.push_back(i);
    }
  }
  selected = std::move(own);
  return share;
}

}  // namespace

int Check(const CheckArguments& options) {
  RequireDifferentFiles(options);
  CheckOutputs outputs(options);  // first, so that no old report stays
  for (const auto& [name, seed] :
       {std::pair("--fresh", options.fresh), {"--adversarial", options.adversarial}}) {
    if (seed && options.subject.starts_with("files:"))
      throw Error(name, " asks new questions, to which ", options.subject, " has no answers");
  }
  if (options.adversarial && !options.write_expect.empty())
    throw Error("--adversarial excludes --write-expect: its cases are others each time");
  if (options.adversarial && options.budget_seconds > 0)
    throw Error("--adversarial excludes --budget; --budget-elements judges a part of each case");
  std::vector<std::string> unselected;
  Replaced replaced;
  std::vector<Selected> selected = Select({.arguments = options.cases,
                                           .filters = options.filters,
                                           .excluded = options.excluded,
                                           .config = options.config,
                                           .left_out = &unselected,
                                           .with = options.with,
                                           .replaced = &replaced});
  std::optional<JudgedShare> share = TakeShare(options, selected, unselected);
  const oracle::SubjectLimits& limits = options.limits;
  Report report{
      .subject = options.subject,
      .recipe = options.recipe,
      .strict = options.strict,
      .timeout =
          limits.seconds == oracle::SubjectLimits().seconds ? "" : PrintValue(limits.seconds),
      .limits = IsInProcess(options.subject) ? "" : oracle::ProcessLimits(limits.memory).Text(),
      .supported_only = options.supported_only,
      .budget_seconds = options.budget_seconds,
      .budget = options.budget,
      .sampled_is_enough = options.sampled_is_enough,
      .shard = std::move(share),
      .open_rows = options.open_rows,
      .engine = options.prove.engine == Engine::kMpfr ? "mpfr" : "ladder",
      .with = options.with,
      .replaced = std::move(replaced),
      .real_cases = RealCasesBeside(options.cases)};
  ReadExpectations(options.expect, CasesOf(selected), unselected, report);
  if (options.fresh) report.fresh = AddFreshCases(*options.fresh, selected);
  std::optional<ScopedSecrecy> secrecy;
  if (options.adversarial) {
    report.fresh = TakeFreshCases(*options.adversarial, selected);
    secrecy.emplace(*options.adversarial);
  }
  if (!options.recipe.empty()) ParseRecipe(options.recipe, DType::kF32);  // throws Error
  if (const auto subject = Started(options, report)) {
    if (options.recipe.empty()) report.recipe = subject->recipe;
    for (const Selected& one : selected)
      NoteMemory(one.c, "judging", BytesToJudge(one.c, *subject, options.prove), options.memory);
    JudgeAll(selected, *subject, options, outputs, report);
    if (subject->close) report.after_last_answer = subject->close();
  }
  report.not_reached = selected.size() - report.verdicts.size();
  return Conclude(unselected, outputs, report);
}

Action BindCheck(CLI::App& app) {
  const auto options = std::make_shared<CheckArguments>();
  AddCheckOptions(app, *options);
  return [options] { return Check(*options); };
}

}  // namespace sextant::tools
