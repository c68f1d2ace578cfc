#include "tools/cli/check_report.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <set>

#include "oracle/catalog/refuting_cases.h"
#include "tools/cli/options.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

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
      const bool is_judged = outcome == Outcome::kConforms || outcome == Outcome::kFails ||
                             outcome == Outcome::kUnlikely ||
                             (outcome == Outcome::kUnsupported && report.supported_only);
      may_be_right = may_be_right || !is_judged || verdict.sample || outcome == entry.outcome;
    }
    if (conforming > 0 && !may_be_right)
      report.stale_expectations.push_back(
          entry.where + ": remove this entry, none of its cases is '" +
          std::string(NameOf(entry.outcome)) + "': cases = \"" + entry.cases + "\"");
  }
}

// Asks the conforming cases about the known defects that failing ones name.
void AddRefuting(Report& report) {
  std::set<std::string> types;  // of failing cases: a kernel of another type may be another one
  std::map<std::string, std::set<std::string>> named;  // by operation
  const auto type_of = [](const Case& c) {
    return c.name() + " " + std::string(NameOf(c.dtype()));
  };
  std::map<std::string, std::vector<Case>> conforming;
  for (const bool fails : {true, false}) {
    for (const Verdict& verdict : report.verdicts) {
      if (verdict.status != (fails ? Verdict::Status::kFails : Verdict::Status::kConforms))
        continue;
      const Case c = Case::Parse(verdict.case_line);
      if (!fails && types.contains(type_of(c))) conforming[c.name()].push_back(c);
      if (!fails) continue;
      types.insert(type_of(c));
      for (const oracle::Cause& cause : verdict.causes)
        if (!cause.is_measured) named[c.name()].insert(cause.name);
    }
  }
  for (const auto& [operation, defects] : named)
    for (const std::string& defect : defects)
      report.refuting[operation + "/" + defect] =
          oracle::CountRefuting(operation, defect, conforming[operation], report.recipe);
}

}  // namespace

void ReadExpectations(const std::string& path, const std::vector<Case>& cases,
                      const std::vector<std::string>& unselected, Report& report) {
  if (path.empty()) return;
  report.expectations = Expectations::Read(path);
  std::vector<std::string> lines = unselected;
  for (const Case& c : cases) {
    report.expectations.RequireNames(c);
    lines.push_back(c.ToString());
  }
  report.stale_expectations = report.expectations.StaleEntries(lines);
}

int Conclude(const std::vector<std::string>& unselected, CheckOutputs& outputs, Report& report) {
  AddRepaired(unselected, report);
  AddRefuting(report);
  outputs.Write(report);
  // There may be more shards than cases.
  if (report.shard && report.shard->positions.empty() && report.not_started.empty())
    return kVerified;
  return report.Status() == kNothing ? NothingToDo(kNoElement) : report.Status();
}

}  // namespace sextant::tools
