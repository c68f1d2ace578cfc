// sextant audit-suite
#include "tools/cli/audit_suite.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <set>
#include <sstream>

#include "oracle/audit/suggest.h"
#include "reference/base/count_text.h"
#include "tools/api/exit_status.h"
#include "tools/api/selection.h"
#include "tools/api/shard.h"
#include "tools/cli/commands.h"
#include "tools/cli/options.h"
#include "tools/cli/supported.h"
#include "tools/report/json.h"
#include "tools/report/progress.h"

namespace sextant::tools {
namespace {

using oracle::TargetResult;

struct AuditArguments {
  std::vector<std::string> files;
  std::string json, supported_by, shard;
  bool minimal = false, suggest = false;
};

void PrintCaughtTarget(const TargetResult& result) {
  if (result.caught_by.empty()) return;
  std::cout << "caught   " << result.operation << "/" << result.target << "  by  "
            << CaseNumbers(result.caught_by);
  if (!result.cannot_show.empty()) std::cout << "  (cannot show in";
  for (const DType dtype : result.cannot_show) std::cout << " " << NameOf(dtype);
  std::cout << (result.cannot_show.empty() ? "\n" : ")\n");
}

void PrintSurvivor(const TargetResult& result, const std::vector<Case>& cases) {
  if (result.caught_by.empty()) {
    std::cout << "SURVIVES " << result.operation << "/" << result.target << "  (" << result.why
              << ")\n";
  }
  for (const oracle::MissingDType& missing : result.missing) {
    std::cout << "SURVIVES " << result.operation << "/" << result.target << " in "
              << NameOf(missing.dtype) << "  (" << result.why << ")\n  would be caught by  "
              << oracle::WithDType(cases[missing.retyped[0]], missing.dtype)->ToString() << "\n";
  }
}

// "3 of 4 defects and 5 of 9 coverage goals caught by 2 cases, ..."
void PrintSum(const oracle::Audit& audit, size_t cases) {
  size_t all[2] = {}, caught[2] = {}, cannot_show = 0;  // [1]: of coverage goals
  for (const TargetResult& result : audit.results) {
    ++all[result.is_goal];
    caught[result.is_goal] += !result.Survives();
    cannot_show += result.cannot_show.size();
  }
  std::cout << caught[0] << " of " << CountText(all[0], "defect");
  if (all[1] > 0) std::cout << " and " << caught[1] << " of " << CountText(all[1], "coverage goal");
  std::cout << " caught by " << CountText(cases, "case") << ", in every dtype that can show them; "
            << CountText(cannot_show, "time") << " a dtype cannot show one\n";
}

void PrintResults(const oracle::Audit& audit, const std::vector<Case>& cases) {
  for (const std::string& line : audit.baseline_failures) {
    std::cout << "the reference itself fails, so no defect is scored: " << line << "\n";
  }
  if (!audit.results.empty()) {
    for (size_t i = 0; i < cases.size(); ++i) {
      std::cout << "case " << i + 1 << "  " << cases[i].ToString() << "\n";
    }
  }
  for (const TargetResult& result : audit.results) PrintCaughtTarget(result);
  for (const TargetResult& result : audit.results) {
    if (result.Survives()) PrintSurvivor(result, cases);
  }
  PrintSum(audit, cases.size());
}

void PrintMinimal(const std::vector<MinimalSet>& sets, const std::vector<Selected>& selected) {
  for (const MinimalSet& minimal : sets) {
    std::cout << minimal.Summary() << "\n";
    for (const size_t index : minimal.found.elements) {
      const Selected& s = selected[index];
      std::cout << "  case " << index + 1 << "  " << s.c.ToString();
      if (!s.why.empty()) std::cout << "  # " << s.why;
      std::cout << "\n    the only case of this set that catches";
      const char* separator = " ";
      for (const std::string& defect : minimal.CaughtOnlyBy(index)) {
        std::cout << separator << defect;
        separator = ", ";
      }
      std::cout << "\n";
    }
  }
}

constexpr size_t kMostNames = 4;  // defects printed per suggested case

void PrintSuggestions(const oracle::Suggestions& suggestions) {
  for (const auto& [c, closes] : suggestions.cases) {
    std::cout << oracle::ShortestLine(c) << "  # catches ";
    for (size_t i = 0; i < std::min(closes.size(), kMostNames); ++i) {
      std::cout << (i > 0 ? ", " : "") << closes[i];
    }
    if (closes.size() > kMostNames) std::cout << " and " << closes.size() - kMostNames << " more";
    std::cout << "\n";
  }
  for (const std::string& name : suggestions.uncaught) {
    std::cout << "no case was found that catches " << name << "\n";
  }
}

Json AsNumbers(const std::vector<size_t>& indices) {
  Json numbers = Json::array();
  for (const size_t index : indices) numbers.push_back(index + 1);
  return numbers;
}

Json NamesOf(const std::vector<DType>& dtypes) {
  Json names = Json::array();
  for (const DType dtype : dtypes) names.push_back(NameOf(dtype));
  return names;
}

Json MissingOf(const TargetResult& result, const std::vector<Case>& cases) {
  Json all = Json::array();
  for (const oracle::MissingDType& missing : result.missing) {
    const auto c = oracle::WithDType(cases[missing.retyped[0]], missing.dtype);
    all.push_back({{"dtype", NameOf(missing.dtype)}, {"would_be_caught_by", c->ToString()}});
  }
  return all;
}

Json ReportOf(const oracle::Audit& audit, const std::vector<Case>& cases,
              const std::vector<MinimalSet>& sets) {
  Json json = {{"passed", audit.Passed()},
               {"cases", Json::array()},
               {"baseline_failures", audit.baseline_failures},
               {"defects", Json::array()}};
  for (size_t i = 0; i < cases.size(); ++i) {
    json["cases"].push_back({{"number", i + 1}, {"case", cases[i].ToString()}});
  }
  for (const TargetResult& result : audit.results) {
    json["defects"].push_back({{"operation", result.operation},
                               {"name", result.target},
                               {"is_coverage_goal", result.is_goal},
                               {"why", result.why},
                               {"caught_by", AsNumbers(result.caught_by)},
                               {"missing", MissingOf(result, cases)},
                               {"cannot_show", NamesOf(result.cannot_show)}});
  }
  for (const MinimalSet& minimal : sets) {
    json["minimal"].push_back({{"operation", minimal.operation},
                               {"cases", AsNumbers(minimal.found.elements)},
                               {"at_least", minimal.found.at_least},
                               {"is_smallest", minimal.found.IsSmallest()}});
  }
  return json;
}

oracle::Audit AuditWithProgress(const std::vector<Case>& cases, oracle::AuditOptions options) {
  Progress progress("auditing");
  options.progress = [&](double done) { progress(done); };
  return oracle::AuditSuite(cases, options);
}

// The cases of the operations of a share: no defect has cases of several operations.
std::vector<Selected> TakeShare(std::vector<Selected> selected, const Shard& shard) {
  std::vector<std::string> operations;
  std::vector<double> costs;
  const auto number_of = [&](const Selected& s) {
    const auto at = std::ranges::find(operations, s.c.name());
    return static_cast<size_t>(at - operations.begin());
  };
  for (const Selected& s : selected) {
    const size_t number = number_of(s);
    if (number == operations.size()) {
      operations.emplace_back(s.c.name());
      costs.push_back(0);
    }
    costs[number] += CostOfCase(s.c);
  }
  const std::vector<size_t> dealt = DealtTo(costs, shard.count);
  std::erase_if(selected, [&](const Selected& s) { return dealt[number_of(s)] != shard.index; });
  return selected;
}

int AuditSuite(const AuditArguments& options) {
  std::vector<std::string> inputs = options.files;
  inputs.push_back(options.supported_by);
  RequireNoInput(options.json, inputs);
  OutputFile json(options.json);
  NoteShard(options.shard);
  const Shard shard = ShardOf(options.shard);
  std::vector<Selected> selected = Select({.arguments = options.files});
  const auto cases_of = [](const std::vector<Selected>& all) {
    std::vector<Case> cases;
    for (const Selected& s : all) cases.push_back(s.c);
    return cases;
  };
  std::set<std::string> judged;
  if (!options.supported_by.empty())
    judged = JudgedCasesOf(options.supported_by, cases_of(selected));
  selected = TakeShare(std::move(selected), shard);
  const std::vector<Case> cases = cases_of(selected);
  const oracle::AuditOptions audit_options{.read_file = NpyReader(),
                                           .all_retyped = options.suggest};
  const oracle::Audit audit = AuditWithProgress(cases, audit_options);
  PrintResults(audit, cases);
  std::vector<MinimalSet> sets;
  if (options.minimal) sets = MinimalSets(audit, cases);
  PrintMinimal(sets, selected);
  if (options.suggest) PrintSuggestions(oracle::Suggest(audit, cases, {.audit = audit_options}));
  Json report = ReportOf(audit, cases, sets);
  if (!shard.IsAll()) {
    report["shard"] = shard.Text();
    report["passed"] = audit.Passed() || cases.empty();  // fewer operations than shares
  }
  bool misses = false;
  if (!options.supported_by.empty()) {
    const SupportedAudit supported = AuditSupported(audit, cases, judged);
    PrintSupported(supported, cases.size(), options.supported_by);
    report["as_supported_by"] = ToJson(supported);
    misses = !supported.missed.empty();
  }
  if (json) WriteJsonFile(report, json);
  return report["passed"] && !misses ? kVerified : kNonconforming;
}

}  // namespace

std::string CaseNumbers(const std::vector<size_t>& indices) {
  std::ostringstream out;
  for (size_t i = 0; i < indices.size();) {
    size_t last = i;
    while (last + 1 < indices.size() && indices[last + 1] == indices[last] + 1) ++last;
    out << (i > 0 ? " " : "") << indices[i] + 1;
    if (last > i) out << (last > i + 1 ? "-" : " ") << indices[last] + 1;
    i = last + 1;
  }
  return out.str();
}

std::vector<std::string> MinimalSet::CaughtOnlyBy(size_t index) const {
  std::vector<std::string> names;
  for (const TargetResult& defect : defects) {
    std::vector<size_t> by;
    std::ranges::set_intersection(defect.caught_by, found.elements, std::back_inserter(by));
    if (by == std::vector{index}) names.push_back(defect.target);
  }
  return names;
}

std::string MinimalSet::Summary() const {
  std::ostringstream out;
  out << operation << ": " << found.elements.size() << " of " << cases << " cases catch all "
      << defects.size() << " defects that are caught; ";
  if (found.IsSmallest()) {
    out << "no smaller set does";
  } else {
    out << "the search stopped early, a smaller set may exist; at least " << found.at_least
        << (found.at_least == 1 ? " case is needed" : " cases are needed");
  }
  return out.str();
}

std::vector<MinimalSet> MinimalSets(const oracle::Audit& audit, const std::vector<Case>& cases,
                                    size_t steps) {
  std::vector<MinimalSet> sets;
  for (const TargetResult& result : audit.results) {
    if (sets.empty() || sets.back().operation != result.operation) {
      const auto own = std::ranges::count(cases, result.operation, &Case::name);
      sets.push_back({result.operation, static_cast<size_t>(own), {}, {}});
    }
    if (!result.caught_by.empty()) sets.back().defects.push_back(result);
  }
  for (MinimalSet& minimal : sets) {
    std::vector<std::vector<size_t>> by;
    for (const TargetResult& defect : minimal.defects) by.push_back(defect.caught_by);
    minimal.found = oracle::FindHittingSet(by, steps);
  }
  return sets;
}

Action BindAuditSuite(CLI::App& app) {
  const auto options = std::make_shared<AuditArguments>();
  AddOption(app, "cases", options->files, "files of cases", {.required = true});
  AddFlag(app, "--minimal", options->minimal,
          "print a smallest set of cases that catches all defects that are caught");
  AddFlag(app, "--suggest", options->suggest,
          "print case lines that would catch the surviving defects");
  AddPath(app, "--as-supported-by", options->supported_by,
          "a JSON report of `check`: name the defects that only cases catch that it did not judge");
  AddReport(app, "--json", options->json,
            "write a report in JSON: which cases catch which defects");
  AddShard(app, options->shard);
  return [options] { return AuditSuite(*options); };
}

}  // namespace sextant::tools
