#include "tools/report/judgement_text.h"

#include <algorithm>
#include <sstream>

#include "reference/base/count_text.h"
#include "tools/api/shell_quoted.h"
#include "tools/report/report.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

constexpr size_t kMostFailures = 5, kMostCauses = 2;  // lines

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " " + word;
  return text;
}

bool HasNoElement(const Verdict& verdict) {
  return std::ranges::all_of(verdict.tensors, [](const auto& t) { return t.elements == 0; });
}

size_t LeftOut(const Verdict& verdict) {
  size_t count = 0;
  for (const oracle::TensorVerdict& tensor : verdict.tensors) count += tensor.left_out;
  return count;
}

std::string Headline(const Judgement& judgement) {
  const Verdict& verdict = judgement.verdict;
  if (HasNoElement(verdict)) return "nothing to judge: " + verdict.case_line + "\n";
  std::string text(ReportOf(judgement).Fails(verdict) ? "FAILS" : NameOf(verdict.status));
  if (verdict.status == Verdict::Status::kConforms && verdict.grade)
    text += " (" + std::string(NameOf(*verdict.grade)) + ")";
  if (LeftOut(verdict) > 0) text += " in the part that was judged";
  return text + ": " + verdict.case_line + ", by recipe " + judgement.recipe + "\n";
}

// The first `most` lines of the text, indented, and the number of lines that are left out. One
// line is never left out: its number would take a line too.
std::string FirstLinesIndented(const std::string& lines, size_t most) {
  std::istringstream in(lines);
  std::vector<std::string> all;
  for (std::string line; std::getline(in, line);) all.push_back(line);
  const size_t shown = all.size() <= most + 1 ? all.size() : most;
  std::string text;
  for (size_t i = 0; i < shown; ++i) text += "  " + all[i] + "\n";
  return shown == all.size()
             ? text
             : text + "  ... and " + CountText(all.size() - shown, "more line") + "\n";
}

// The outputs that conform although another one fails. With a trace, the message says it.
std::string ConformingOutputs(const Verdict& verdict) {
  std::vector<std::string> names;
  if (!verdict.trace.empty()) return "";
  for (const oracle::TensorVerdict& t : verdict.tensors) {
    if (t.judged > 0 && t.grade < oracle::Grade::kUnlikely)
      names.push_back(t.name + " (" + std::string(NameOf(t.grade)) + ")");
  }
  return names.empty() ? "" : "  these outputs conform:" + Joined(names) + "\n";
}

}  // namespace

std::string TextOf(const Judgement& judgement) {
  const Verdict& verdict = judgement.verdict;
  const bool fails = ReportOf(judgement).Fails(verdict);
  std::string text = Headline(judgement) + FirstLinesIndented(FailureLines(verdict), kMostFailures);
  if (fails) text += ConformingOutputs(verdict);
  text += FirstLinesIndented(CauseLines(verdict), kMostCauses);
  if (!judgement.layout.empty())
    text +=
        "  conforms if the axes are in another order, which their names say:" + judgement.layout +
        "\n";
  if (verdict.status == Verdict::Status::kFails && judgement.layout.empty()) {
    const std::string recipes = RecipeLine(verdict);
    text += (recipes.empty() ? "conforms by no other recipe that was tried" : recipes) + "\n";
  }
  for (const std::string& word : judgement.unshown)
    text += "these inputs cannot show a wrong number: " + word + " conforms too\n";
  if (!judgement.question.defaults.empty())
    text += "not given by any tensor, so the default:" + Joined(judgement.question.defaults) + "\n";
  for (const auto& [dimension, axes] : judgement.question.folded) {
    text += "the leading axes " + ToString(axes) + " are taken as " + dimension + "=" +
            std::to_string(CountOf(axes)) + "\n";
  }
  for (const std::string& note : judgement.question.notes) text += note + "\n";
  text += ElementCounts({verdict});
  if (LeftOut(verdict) > 0)
    text += "; the part was chosen with seed " + std::to_string(judgement.budget.seed);
  text += "\n";
  return fails && !judgement.repeat.empty() ? text + "repeat: " + judgement.repeat + "\n" : text;
}

std::string RepeatOptions(const Judgement& judgement) {
  std::string text;
  if (judgement.recipe != JudgeOptions().recipe)
    text += " --recipe " + PrintableWord(judgement.recipe);
  if (judgement.strict) text += " --strict";
  if (judgement.budget.elements > 0) {
    text += " --budget-elements " + std::to_string(judgement.budget.elements) + " --seed " +
            std::to_string(judgement.budget.seed);
  }
  return text;
}

}  // namespace sextant::tools
