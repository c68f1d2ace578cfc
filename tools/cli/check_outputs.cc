#include "tools/cli/check_outputs.h"

#include <filesystem>
#include <iostream>
#include <map>

#include "tools/report/junit.h"
#include "tools/report/markdown.h"
#include "tools/report/report_json.h"
#include "tools/report/report_text.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

std::string RequireNewFile(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    throw Error(path,
                " exists, and --write-expect would replace the reasons in it; "
                "expected the name of a new file");
  }
  return path;
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

}  // namespace

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

CheckOutputs::CheckOutputs(const CheckArguments& options)
    : json(options.json),
      junit(options.junit),
      html(options.html),
      lines(options.json_lines, json || junit || html || !options.write_expect.empty()),
      expectations(RequireNewFile(options.write_expect)) {}

void CheckOutputs::Write(const Report& report) {
  PrintSummary(report, lines.IsStandardOutput() ? std::cerr : std::cout);
  if (lines) lines.Write(SummaryJsonLine(report));
  if (json) WriteJson(report, json);
  if (junit) WriteJunit(report, junit);
  if (html) WritePage(report, html);
  if (expectations && report.not_started.empty()) {
    expectations.Write(
        [&](std::ostream& out) { out << ExpectationsOf(ToExpect(report), report.strict); });
  }
  AppendStepSummary(report);
}

}  // namespace sextant::tools
