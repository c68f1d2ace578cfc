#include "tools/cli/supported.h"

#include <algorithm>
#include <iostream>
#include <iterator>
#include <map>

#include "reference/base/count_text.h"
#include "reference/base/printable.h"
#include "reference/base/text_file.h"
#include "tools/api/expectations.h"
#include "tools/cli/audit_suite.h"

namespace sextant::tools {
namespace {

using oracle::TargetResult;

constexpr int kMostLevels = 8;  // of objects and lists in a report
constexpr size_t kMostBytes = size_t{1} << 30;

std::string TextAt(const Json& object, const char* key) {
  const auto at = object.find(key);
  if (at == object.end() || !at->is_string()) throw Error("a case has no text '", key, "'");
  return at->get<std::string>();
}

std::set<std::string> JudgedCasesIn(const Json& report) {
  const auto cases = report.is_object() ? report.find("cases") : report.end();
  if (!report.is_object() || cases == report.end() || !cases->is_array())
    throw Error("it has no list 'cases'");
  std::set<std::string> judged;
  for (const Json& one : *cases) {
    if (!one.is_object()) throw Error("a case is ", Excerpt(one), ", expected an object");
    const std::string status = TextAt(one, "status"), line = TextAt(one, "case");
    const bool answered =
        status != NameOf(Outcome::kUnsupported) && status != NameOf(Outcome::kCouldNotRun);
    if (answered) judged.insert(line);
  }
  return judged;
}

// The indices of cases with that dtype.
std::vector<size_t> InDType(const std::vector<size_t>& indices, const std::vector<Case>& cases,
                            DType dtype) {
  std::vector<size_t> found;
  std::ranges::copy_if(indices, std::back_inserter(found),
                       [&](size_t i) { return cases[i].dtype() == dtype; });
  return found;
}

MissedTarget MissedOf(const TargetResult& result, const std::vector<Case>& cases,
                      const std::vector<size_t>& supported) {
  MissedTarget missed{result.operation, result.target, result.why, result.is_goal};
  std::vector<size_t> own, catching;
  std::ranges::copy_if(supported, std::back_inserter(own),
                       [&](size_t i) { return cases[i].name() == result.operation; });
  std::ranges::set_intersection(result.caught_by, own, std::back_inserter(catching));
  if (catching.empty()) {
    missed.caught_by = result.caught_by;
    return missed;
  }
  for (const DType dtype : kFloatTypes) {
    const std::vector<size_t> by = InDType(result.caught_by, cases, dtype);
    const bool is_missed = !by.empty() && InDType(catching, cases, dtype).empty() &&
                           !InDType(own, cases, dtype).empty();
    if (!is_missed || result.is_goal) continue;  // a goal need not be reached in every dtype
    missed.dtypes.push_back(dtype);
    missed.caught_by.insert(missed.caught_by.end(), by.begin(), by.end());
  }
  std::ranges::sort(missed.caught_by);
  return missed;
}

}  // namespace

std::set<std::string> JudgedCasesOf(const std::string& report_path,
                                    const std::vector<Case>& cases) {
  const std::string text = ReadText(report_path, kMostBytes, "a JSON report of sextant check");
  try {
    const std::set<std::string> judged = JudgedCasesIn(ParseJson(text, kMostLevels));
    const auto is_judged = [&](const Case& c) { return judged.contains(c.ToString()); };
    if (std::ranges::none_of(cases, is_judged)) throw Error("it judged none of these cases");
    return judged;
  } catch (const Error& e) {
    throw Error(report_path, ": ", e.what(), "; expected a JSON report of sextant check");
  }
}

SupportedAudit AuditSupported(const oracle::Audit& audit, const std::vector<Case>& cases,
                              const std::set<std::string>& judged) {
  SupportedAudit all;
  std::set<std::string> operations;
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!judged.contains(cases[i].ToString())) continue;
    all.supported.push_back(i);
    operations.insert(cases[i].name());
  }
  for (const TargetResult& result : audit.results) {
    if (!operations.contains(result.operation)) {
      if (all.without_case.empty() || all.without_case.back() != result.operation)
        all.without_case.push_back(result.operation);
      continue;
    }
    if (result.caught_by.empty()) continue;
    ++(result.is_goal ? all.goals : all.defects);
    MissedTarget missed = MissedOf(result, cases, all.supported);
    if (!missed.caught_by.empty()) all.missed.push_back(std::move(missed));
  }
  return all;
}

void PrintSupported(const SupportedAudit& supported, size_t cases, const std::string& report_path) {
  for (const std::string& operation : supported.without_case)
    std::cout << "no case of " << operation << " is supported\n";
  size_t goals = 0;
  for (const MissedTarget& missed : supported.missed) {
    goals += missed.is_goal;
    std::cout << "MISSED   " << missed.operation << "/" << missed.target;
    if (!missed.dtypes.empty()) std::cout << " in";
    for (const DType dtype : missed.dtypes) std::cout << " " << NameOf(dtype);
    std::cout << "  (" << missed.why << ")\n  caught only by unsupported cases  "
              << CaseNumbers(missed.caught_by) << "\n";
  }
  std::cout << Marked(report_path) << " supports " << supported.supported.size() << " of "
            << CountText(cases, "case") << ": they miss " << supported.missed.size() - goals
            << " of " << CountText(supported.defects, "defect") << " and " << goals << " of "
            << CountText(supported.goals, "coverage goal") << " that all cases catch\n";
}

Json ToJson(const SupportedAudit& supported) {
  const auto numbers = [](const std::vector<size_t>& indices) {
    Json list = Json::array();
    for (const size_t i : indices) list.push_back(i + 1);
    return list;
  };
  Json json = {{"supported", numbers(supported.supported)},
               {"operations_without_case", supported.without_case},
               {"missed", Json::array()}};
  for (const MissedTarget& missed : supported.missed) {
    Json dtypes = Json::array();
    for (const DType dtype : missed.dtypes) dtypes.push_back(NameOf(dtype));
    json["missed"].push_back({{"operation", missed.operation},
                              {"name", missed.target},
                              {"is_coverage_goal", missed.is_goal},
                              {"why", missed.why},
                              {"dtypes", dtypes},
                              {"caught_by", numbers(missed.caught_by)}});
  }
  return json;
}

}  // namespace sextant::tools
