#include "tools/report/report_text.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <map>

#include "reference/base/count_text.h"
#include "tools/report/progress.h"

namespace sextant::tools {
namespace {

using oracle::Grade;
using oracle::Verdict;

// For each likely cause, most frequent first, the number of failing cases that it explains: "30 of
// 32 failing cases: likely cause defect:rms_norm/mean_subtracted". Omitted if only one case fails.
void PrintCauses(const Report& report) {
  std::map<std::string, size_t> failing, explained;
  for (const Verdict& v : report.verdicts) {
    if (v.status != Verdict::Status::kFails) continue;
    const std::string operation = v.case_line.substr(0, v.case_line.find(' '));
    ++failing[operation];
    for (const oracle::Cause& cause : v.causes) ++explained[operation + "/" + cause.name];
  }
  std::vector<std::pair<std::string, size_t>> causes(explained.begin(), explained.end());
  std::ranges::stable_sort(causes, std::greater(), &std::pair<std::string, size_t>::second);
  for (const auto& [cause, count] : causes) {
    const size_t all = failing[cause.substr(0, cause.find('/'))];
    if (all > 1)
      std::cout << count << " of " << all << " failing cases: likely cause defect:" << cause
                << "\n";
  }
}

struct Counts {
  std::map<std::string_view, size_t> cases;  // by grade or status
  size_t failing = 0, not_run = 0;

  explicit Counts(const Report& report) {
    for (const Verdict& v : report.verdicts) {
      failing += report.Fails(v);
      not_run += v.status == Verdict::Status::kCouldNotRun;
      ++cases[report.Fails(v)                          ? NameOf(Verdict::Status::kFails)
              : v.status == Verdict::Status::kConforms ? NameOf(v.grade.value())
                                                       : NameOf(v.status)];
    }
  }
};

}  // namespace

void PrintVerdict(const Report& report, const Verdict& verdict) {
  const bool fails = report.Fails(verdict);
  const bool conforms = verdict.status == Verdict::Status::kConforms;
  if (conforms && verdict.grade.value() < Grade::kUnlikely) return;
  const Colors colors = ColorsOfOutput();
  const std::string_view word = conforms ? NameOf(verdict.grade.value()) : NameOf(verdict.status);
  std::string details = Details(verdict);
  for (size_t at = details.find('\n'); at != details.npos; at = details.find('\n', at + 3))
    details.replace(at, 1, "\n  ");
  std::cout << (fails ? colors.red + "FAILS" : colors.yellow + std::string(word)) << colors.plain
            << " " << verdict.case_line << "\n";
  if (!details.empty()) std::cout << "  " << details << "\n";
  std::cout << "  repeat: " << RepeatCommand(report, verdict) << "\n";
}

void PrintSummary(const Report& report) {
  if (!report.after_last_answer.empty()) {
    std::cout << "after the last case, " << report.subject
              << " misbehaved: " << report.after_last_answer << "\n";
  }
  PrintCauses(report);
  const Counts n(report);
  const Colors colors = ColorsOfOutput();
  std::cout << (n.failing > 0 ? colors.red : colors.green) << report.subject << colors.plain
            << " by recipe " << report.recipe << ": " << CountText(report.verdicts.size(), "case");
  const char* separator = ": ";
  for (const auto& [name, count] : n.cases) {
    std::cout << separator << count << " " << name;
    separator = ", ";
  }
  std::cout << "; " << ElementCounts(report.verdicts) << "\n";
  if (n.failing > 0 && n.not_run > 0) {
    std::cout << n.not_run << " of " << report.verdicts.size()
              << " cases could not be run; the exit status is " << kNonconforming << " and not "
              << kNotRun << " because another case fails\n";
  }
}

}  // namespace sextant::tools
