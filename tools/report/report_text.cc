#include "tools/report/report_text.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <ranges>
#include <sstream>

#include "oracle/audit/suggest.h"
#include "reference/base/count_text.h"
#include "reference/base/printable.h"
#include "tools/report/advice.h"
#include "tools/report/progress.h"
#include "tools/report/run_causes.h"

namespace sextant::tools {
namespace {

using oracle::Grade;
using oracle::Verdict;

constexpr size_t kMostGroups = 30;  // printed
constexpr size_t kNamed = 3;        // cases of one reason

// The first cause of a failure, or why the subject gave no answer; empty: none is known.
std::string ReasonOf(const Verdict& verdict) {
  if (!verdict.causes.empty()) return verdict.causes[0].name;
  if (verdict.status == Verdict::Status::kFails) return "";
  return verdict.message.substr(0, verdict.message.find('\n'));
}

// A result whose reason may repeat.
bool MayRepeat(Result result) {
  return result == Result::kFails || result == Result::kCouldNotRun ||
         result == Result::kUnsupported;
}

// How many verdicts before this one have the same result for the same reason; 0 without a reason.
size_t SameReasonBefore(const Report& report, const Verdict& verdict) {
  const Result result = report.Assess(verdict).result;
  const std::string reason = ReasonOf(verdict);
  size_t count = 0;
  if (reason.empty() || !MayRepeat(result)) return count;
  for (const Verdict& before : report.verdicts) {
    if (&before == &verdict) break;
    count += ReasonOf(before) == reason && OperationOf(before) == OperationOf(verdict) &&
             report.Assess(before).result == result;
  }
  return count;
}

// "unsupported: 380 cases: no f64", where not all of them were printed.
void PrintRepeated(const Report& report, std::ostream& out) {
  std::map<std::pair<std::string, std::string>, size_t> cases;  // by status and reason
  for (const Verdict& v : report.verdicts) {
    const Result result = report.Assess(v).result;
    const bool is_printed = result != Result::kUnsupported || !report.supported_only;
    if (result != Result::kFails && MayRepeat(result) && is_printed)
      ++cases[{std::string(NameOf(v.status)), ReasonOf(v)}];
  }
  for (const auto& [key, count] : cases) {
    if (count > kNamed)
      out << key.first << ": " << CountText(count, "case") << ": " << key.second
          << "; without -v, the first " << kNamed << " are printed\n";
  }
}

// The causes of the run, and how many failures were not printed.
void PrintCauses(const Report& report, std::ostream& out) {
  for (const std::string& line : CauseLinesOf(report)) out << line << "\n";
  const auto repeats = std::ranges::count_if(report.verdicts, [&](const Verdict& v) {
    return v.status == Verdict::Status::kFails && SameReasonBefore(report, v) >= kNamed;
  });
  if (repeats > 0)
    out << CountText(static_cast<size_t>(repeats), "failing case") << " more like these: -v\n";
}

// "  line 1\n  line 2\n"
std::string Indented(const std::string& lines) {
  std::string text;
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) text += "  " + line + "\n";
  return text;
}

bool NeedsAttention(const Report& report, const Verdict& verdict, Result result) {
  if (result == Result::kAsExpected || result == Result::kOpenByInputs) return false;
  if (result == Result::kPasses) return verdict.grade.value() == Grade::kUnlikely;
  return result != Result::kUnsupported || !report.supported_only;
}

void PrintColored(const Color& color, const std::string& word, std::ostream& out) {
  const bool is_stdout = out.rdbuf() == std::cout.rdbuf();
  out << (is_stdout ? color : Color()) << word << (is_stdout ? ColorsOfOutput().plain : Color());
}

// What is to be said beside the verdicts.
void PrintNotes(const Report& report, std::ostream& out) {
  PrintCauses(report, out);
  PrintRepeated(report, out);
  const auto groups = AcceptedGroups(report);
  for (const AcceptedGroup& group : groups | std::views::take(kMostGroups))
    out << TextOf(group) << "\n";
  if (groups.size() > kMostGroups)
    out << "and " << CountText(groups.size() - kMostGroups, "more reason") << "\n";
  if (const std::string text = MissingReasons(report); !text.empty()) out << text << "\n";
}

}  // namespace

void PrintVerdict(const Report& report, const Verdict& verdict, const TextOutput& to) {
  const Assessment assessment = report.Assess(verdict);
  const std::string word(NameOf(assessment, verdict, report.strict));
  const Colors colors = ColorsOfOutput();
  const auto line = [&] {
    return to.short_lines ? oracle::ShortestLine(Case::Parse(verdict.case_line))
                          : verdict.case_line;
  };
  const auto head = [&](const Color& color, const std::string& text) {
    PrintColored(color, text, to.out);
    to.out << " " << line() << "\n";
  };
  const size_t before = to.verbose ? 0 : SameReasonBefore(report, verdict);
  if (before >= kNamed) return;
  if (!NeedsAttention(report, verdict, assessment.result)) {
    if (to.verbose) head(colors.green, word);
    if (to.verbose) to.out << Indented(SampleLine(verdict));
    return;
  }
  if (assessment.result == Result::kUnexpected) {
    head(colors.red, "UNEXPECTED");
    to.out << "  " << assessment.expected->where << ": " << assessment.contradiction << "\n";
  } else if (assessment.result == Result::kFails) {
    head(colors.red, "FAILS");
  } else {
    head(colors.yellow, word);
  }
  const bool fails = verdict.status == Verdict::Status::kFails;
  if (before > 0) {
    to.out << "  " << (fails ? "like one above" : ReasonOf(verdict)) << "\n";
    return;
  }
  Verdict shown = verdict;
  shown.case_line = line();
  if (fails && !to.verbose && !report.HasOneCase()) shown.causes.clear();
  to.out << Indented(Details(shown)) << "  repeat: " << RepeatCommand(report, shown) << "\n";
}

std::vector<AcceptedGroup> AcceptedGroups(const Report& report) {
  std::vector<AcceptedGroup> groups;
  std::map<std::pair<std::string, std::string>, size_t> index;  // by place and reason
  for (const Verdict& v : report.verdicts) {
    const Assessment assessment = report.Assess(v);
    AcceptedGroup group;
    if (assessment.result == Result::kAsExpected) {
      const Expectation& e = *assessment.expected;
      group = {"as expected: " + std::string(NameOf(e.outcome)), e.reason, e.where, e.link};
    } else if (assessment.result == Result::kUnsupported && report.supported_only) {
      group = {std::string(NameOf(v.status)), v.message.substr(0, v.message.find('\n'))};
    } else {
      continue;
    }
    const auto at = index.emplace(std::pair(group.where, group.reason), groups.size()).first;
    if (at->second == groups.size()) groups.push_back(group);
    ++groups[at->second].cases;
  }
  return groups;
}

std::string TextOf(const AcceptedGroup& group) {
  const std::string link = group.link.empty() ? "" : ", " + group.link;
  return group.result + ": " + CountText(group.cases, "case") + ": " + group.reason +
         (group.where.empty() ? "" : " (" + group.where + link + ")");
}

std::string MissingReasons(const Report& report) {
  const auto& entries = report.expectations.entries();
  const auto count = std::ranges::count(entries, kNoReasonYet, &Expectation::reason);
  if (count == 0) return "";
  const auto first = std::ranges::find(entries, kNoReasonYet, &Expectation::reason);
  return first->where + ": " + CountText(static_cast<size_t>(count), "expectation") +
         " without a reason; this is the first: write why this result is expected";
}

void PrintSummary(const Report& report, std::ostream& out) {
  if (!report.after_last_answer.empty()) {
    out << "after the last case, " << Marked(report.subject)
        << " misbehaved: " << report.after_last_answer << "\n";
  }
  for (const std::string& message : report.stale_expectations) out << message << "\n";
  if (!report.not_started.empty()) {
    out << Marked(report.subject) << " could not be run: " << CountText(report.not_reached, "case")
        << " not judged\n";
    return;
  }
  PrintNotes(report, out);
  std::map<std::string_view, size_t> cases;  // by result
  for (const Verdict& v : report.verdicts) ++cases[NameOf(report.Assess(v), v, report.strict)];
  const Colors colors = ColorsOfOutput();
  PrintColored(report.Status() == kNonconforming ? colors.red : colors.green,
               Marked(report.subject), out);
  out << " by recipe " << report.recipe << ": " << CountText(report.verdicts.size(), "case");
  const char* separator = ": ";
  for (const auto& [name, count] : cases) {
    out << separator << count << " " << name;
    separator = ", ";
  }
  out << "; " << ElementCounts(report.verdicts) << "\n";
  if (const SampledCases sampled(report.verdicts); sampled.cases > 0) {
    out << "judged in part: " << CountText(sampled.cases, "case") << ", " << sampled.elements
        << " of " << CountText(sampled.all_elements, "element") << ", chosen at random with seed "
        << report.budget.seed << "\n";
  }
  for (const std::string& text : {FreshLine(report), WithLine(report)}) {
    if (!text.empty()) out << text << "\n";
  }
  if (report.not_reached > 0)
    out << "stopped at the first failure: " << CountText(report.not_reached, "case")
        << " not judged\n";
  const size_t not_run = cases[NameOf(Outcome::kCouldNotRun)];
  if (report.Status() == kNonconforming && not_run > 0) {
    out << not_run << " of " << report.verdicts.size()
        << " cases could not be run; the exit status is " << kNonconforming << " and not "
        << kNotRun << " because another case fails\n";
  }
  const char* indent = "";
  for (const std::string& line : AdviceOf(report)) {
    out << indent << line << "\n";
    indent = "  ";
  }
}

}  // namespace sextant::tools
