// sextant profile
#include "tools/api/profile.h"

#include <iostream>
#include <memory>

#include "tools/api/computed_subject.h"
#include "tools/api/exit_status.h"
#include "tools/api/replace.h"
#include "tools/api/selection.h"
#include "tools/api/subjects.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/report/page.h"
#include "tools/report/profile_report.h"

namespace sextant::tools {
namespace {

struct ProfileArguments {
  std::vector<std::string> cases, filters, excluded, subjects;
  std::string output;
  ConfigChoice config;
  oracle::SubjectLimits limits;
  int worst = 0;
  ProfileOptions profile;
};

void RequireEnding(const std::string& path) {
  for (const char* const ending : {".json", ".csv", ".html"}) {
    if (path.empty() || path.ends_with(ending)) return;
  }
  throw Error(path, " does not end with .html, .json or .csv");
}

void Write(const Profile& profile, const std::string& path, OutputFile& file) {
  if (!file) return;
  if (path.ends_with(".csv")) {
    file.Write([&](std::ostream& out) { PrintCsv(profile, out); });
  } else if (path.ends_with(".html")) {
    const std::string page = PageOf(ToJson(profile));
    file.Write([&](std::ostream& out) { out << page; });
  } else {
    WriteJsonFile(ToJson(profile), file);
  }
}

ExitStatus StatusOfProfile(const Profile& profile) {
  ExitStatus status = kVerified;
  for (const SubjectProfile& subject : profile.subjects) {
    if (subject.could_not_run > 0) return kNotRun;
    if (subject.elements == 0) return kNothing;
    if (!subject.not_answered.empty()) status = kIncomplete;
  }
  return status;
}

int RunProfile(ProfileArguments& options) {
  RequireEnding(options.output);
  OutputFile file(options.output);  // first, so that no old report stays
  const std::vector<Selected> selected = Select({.arguments = options.cases,
                                                 .filters = options.filters,
                                                 .excluded = options.excluded,
                                                 .config = options.config});
  std::vector<oracle::Subject> subjects;
  for (const std::string& text : options.subjects)
    subjects.push_back(MakeSubject(text, options.limits));
  options.profile.worst_questions = static_cast<size_t>(options.worst);
  std::vector<AskedCase> asked;
  for (const Selected& one : selected) asked.push_back({one.c, InputsOf(one)});
  options.profile.budget.seed = options.profile.seed;
  const Profile profile = ProfileOf(asked, subjects, options.profile);
  for (const oracle::Subject& subject : subjects) {
    if (subject.close) subject.close();
  }
  PrintText(profile, std::cout);
  Write(profile, options.output, file);
  return StatusOfProfile(profile);
}

}  // namespace

Action BindProfile(CLI::App& app) {
  const auto options = std::make_shared<ProfileArguments>();
  AddOption(app, "cases", options->cases,
            "files of cases, goldens (files or folders), or case lines", {.required = true});
  std::string subjects = SubjectHelp();
  subjects += "; may be repeated";
  AddOption(app, "--subject", options->subjects, subjects, {.required = true, .one_each = true});
  AddOption(app, "--recipe", options->profile.recipe,
            "permitted errors and costs of steps by this recipe instead of the subject's");
  AddOption(
      app, "--by", options->profile.by,
      "groups of elements: position, pair, head, row, key_length, argument, step, or the "
      "name of an axis; default: position, key_length, argument or row, the first that exists");
  AddReport(app, "-o,--output", options->output, "write a report: .html, .json or .csv");
  AddOption(app, "--below", options->profile.below,
            "find the cheapest recipe whose error is at most so many ulps in 99 % of the elements",
            {.least = 0});
  AddOption(app, "--worst", options->worst,
            "ask at most so many more questions in search of the largest errors, beginning with "
            "the first case",
            {.least = 0});
  AddOption(app, "--budget-elements", options->profile.budget.elements,
            "measure about so many elements of each case at most, chosen at random; 0: all", {});
  AddOption(app, "--seed", options->profile.seed, "seed of that search, and of that choice",
            {.shows_default = true});
  AddOption(app, "--timeout", options->limits.seconds,
            "time limit of lib: and exec: in seconds per case",
            {.shows_default = true, .least = 0.01, .most = 86400});
  AddFilters(app, options->filters, options->excluded);
  AddConfig(app, options->config);
  AddProof(app, options->profile.prove);
  return [options] { return RunProfile(*options); };
}

}  // namespace sextant::tools
