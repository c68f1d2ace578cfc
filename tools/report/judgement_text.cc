#include "tools/report/judgement_text.h"

#include <algorithm>
#include <sstream>

#include "reference/base/count_text.h"
#include "tools/report/report.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

constexpr size_t kMostFailures = 7, kMostCauses = 3;  // lines

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += " " + word;
  return text;
}

bool HasNoElement(const Verdict& verdict) {
  return std::ranges::all_of(verdict.tensors, [](const auto& t) { return t.elements == 0; });
}

std::string Headline(const Judgement& judgement) {
  const Verdict& verdict = judgement.verdict;
  if (HasNoElement(verdict)) return "nothing to judge: " + verdict.case_line + "\n";
  std::string text(ReportOf(judgement).Fails(verdict) ? "FAILS" : NameOf(verdict.status));
  if (verdict.status == Verdict::Status::kConforms && verdict.grade)
    text += " (" + std::string(NameOf(*verdict.grade)) + ")";
  return text + ": " + verdict.case_line + ", by recipe " + judgement.recipe + "\n";
}

// The first `most` lines of the text, indented, and the number of lines that are left out.
std::string Indented(const std::string& lines, size_t most) {
  std::istringstream in(lines);
  std::string text;
  size_t count = 0;
  for (std::string line; std::getline(in, line);) {
    if (++count <= most) text += "  " + line + "\n";
  }
  return count <= most ? text : text + "  ... and " + CountText(count - most, "more line") + "\n";
}

// A recipe that permits an answer with a likely bug is no reason to declare that recipe.
std::string RecipesLine(const Judgement& judgement) {
  const auto& recipes = judgement.conforming_recipes;
  if (recipes.empty()) return "conforms by none of the standard recipes\n";
  const bool has_cause = !judgement.verdict.causes.empty();
  return (has_cause ? "recipes that would permit this answer:" : "conforms by another recipe:") +
         Joined(recipes) + "\n";
}

}  // namespace

std::string TextOf(const Judgement& judgement) {
  const Verdict& verdict = judgement.verdict;
  std::string text = Headline(judgement) + Indented(FailureLines(verdict), kMostFailures) +
                     Indented(CauseLines(verdict), kMostCauses);
  if (verdict.status == Verdict::Status::kFails) text += RecipesLine(judgement);
  if (!judgement.question.defaults.empty())
    text += "not given by any tensor, so the default:" + Joined(judgement.question.defaults) + "\n";
  return text + ElementCounts({verdict}) + "\n";
}

}  // namespace sextant::tools
