#include "tools/report/markdown.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>

#include "reference/base/count_text.h"
#include "reference/base/printable.h"
#include "tools/report/advice.h"
#include "tools/report/report_text.h"
#include "tools/report/run_causes.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

constexpr size_t kMostBytes = 2000;  // of one text

std::string Cut(const std::string& text) {
  if (text.size() <= kMostBytes) return text;
  return text.substr(0, kMostBytes) + "...";
}

// A code span. Its fence is longer than every run of backticks in the text.
std::string Code(const std::string& text) {
  size_t longest = 0, run = 0;
  for (const char c : text) {
    run = c == '`' ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  const std::string fence(longest + 1, '`'), space = longest > 0 ? " " : "";
  std::string line = text;
  std::ranges::replace(line, '\n', ' ');
  return fence + space + line + space + fence;
}

// Every line as a line of a code block by indentation, which no text can end.
std::string CodeBlock(const std::string& lines) {
  std::string text = "\n";
  std::istringstream in(lines);
  for (std::string line; std::getline(in, line);) text += "      " + line + "\n";
  return text;
}

bool IsShown(const Report& report, Result result) {
  return result == Result::kUnexpected || result == Result::kFails ||
         result == Result::kCouldNotRun || result == Result::kUnverified ||
         result == Result::kInPart || (result == Result::kUnsupported && !report.supported_only);
}

std::string CasesText(const Report& report) {
  std::string text;
  size_t count = 0;
  for (const Verdict& v : VerdictsOf(report)) {
    const Assessment assessment = report.Assess(v);
    if (!IsShown(report, assessment.result) || ++count > kMostCasesInMarkdown) continue;
    std::string details = Details(v);
    if (assessment.expected && !assessment.contradiction.empty())
      details = assessment.expected->where + ": " + assessment.contradiction + "\n" + details;
    text += "- **" + std::string(NameOf(assessment, v, report.strict)) + "** " +
            Code(Cut(v.case_line)) + "\n" +
            CodeBlock(Cut(details) + "\nrepeat: " + Cut(RepeatCommand(report, v))) + "\n";
  }
  if (count > kMostCasesInMarkdown)
    text += "and " + CountText(count - kMostCasesInMarkdown, "more case") + "\n\n";
  return text;
}

}  // namespace

std::string MarkdownOf(const Report& report) {
  const std::string why = report.WhyNotVerified();
  std::string text = "### Sextant: " + Code(Cut(report.subject)) +
                     (report.recipe.empty() ? "" : " by recipe " + Code(Cut(report.recipe))) +
                     "\n\n";
  text += why.empty() ? "**Verified.** "
                      : "**Exit status " + std::to_string(report.Status()) + "**: " + why + ". ";
  std::map<std::string, size_t> cases;
  for (const Verdict& v : report.verdicts)
    ++cases[std::string(NameOf(report.Assess(v), v, report.strict))];
  text += ElementCounts(report.verdicts) + ".\n\n| result | cases |\n|---|---|\n";
  for (const auto& [name, count] : cases)
    text += "| " + name + " | " + std::to_string(count) + " |\n";
  if (const SampledCases sampled(report.verdicts); sampled.cases > 0) {
    text += "\nJudged in part: " + CountText(sampled.cases, "case") + ", " +
            std::to_string(sampled.elements) + " of " + CountText(sampled.all_elements, "element") +
            ", chosen at random with seed " + std::to_string(report.budget.seed) + ".\n";
  }
  if (const std::string line = FreshLine(report); !line.empty()) text += "\n" + line + "\n";
  if (const std::string line = WithLine(report); !line.empty())
    text += "\n" + Code(Cut(line)) + "\n";
  for (const std::string& line : AdviceOf(report)) text += CodeBlock(Cut(line));
  if (!report.not_started.empty()) text += CodeBlock(kNotStarted + Cut(report.not_started));
  text += "\n";
  const std::vector<std::string> causes = CauseLinesOf(report);
  for (const std::string& line : causes) text += "- " + Code(Cut(line)) + "\n";
  text += (causes.empty() ? "" : "\n") + CasesText(report);
  std::vector<std::string> notes = report.stale_expectations;
  if (!report.after_last_answer.empty())
    notes.push_back("after the last case: " + report.after_last_answer);
  for (const AcceptedGroup& group : AcceptedGroups(report)) notes.push_back(TextOf(group));
  notes.push_back(MissingReasons(report));
  size_t shown = 0;
  for (const std::string& note : notes) {
    if (!note.empty() && ++shown <= kMostCasesInMarkdown)
      text += "- " + Code(Cut(note.substr(0, note.find('\n')))) + "\n";
  }
  if (shown > kMostCasesInMarkdown)
    text += "- and " + CountText(shown - kMostCasesInMarkdown, "more note") + "\n";
  return Printable(text + "\n");
}

void AppendStepSummary(const Report& report) {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  if (!path || !*path) return;
  errno = 0;
  std::ofstream out(path, std::ios::binary | std::ios::app);
  out << MarkdownOf(report);
  out.close();
  if (!out) {
    throw Error(path, ", the file of GITHUB_STEP_SUMMARY, cannot be written",
                errno != 0 ? std::string(": ") + std::strerror(errno) : "");
  }
}

}  // namespace sextant::tools
