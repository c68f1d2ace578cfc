#include "oracle/judge/verdict_of.h"

#include <algorithm>
#include <utility>

#include "reference/base/count_text.h"

namespace sextant::oracle {
namespace {

// The message about the first tensor with loose elements, or an empty text.
std::string LooseText(const std::vector<JudgedTensor>& tensors) {
  for (const JudgedTensor& tensor : tensors) {
    if (tensor.verdict.loose == 0) continue;
    return "at " + CountText(tensor.verdict.loose, "element") + " of " + tensor.verdict.name +
           " the radius exceeds 2^-10 of the permitted error, so that wrong answers pass";
  }
  return "";
}

}  // namespace

Verdict VerdictOf(const Case& c, const std::vector<JudgedTensor>& tensors) {
  Verdict verdict{
      .case_line = c.ToString(), .message = "", .tensors = {}, .trace = {}, .causes = {}};
  verdict.grade = Grade::kExact;
  for (const JudgedTensor& tensor : tensors) {
    verdict.tensors.push_back(tensor.verdict);
    verdict.grade = std::max(*verdict.grade, tensor.verdict.grade);
  }
  if (verdict.grade == Grade::kFails) verdict.status = Verdict::Status::kFails;
  return verdict;
}

Verdict MismatchVerdict(const Case& c, const std::string& mismatch) {
  Verdict verdict{
      .case_line = c.ToString(), .message = mismatch, .tensors = {}, .trace = {}, .causes = {}};
  verdict.status = Verdict::Status::kFails;
  return verdict;
}

std::vector<std::unique_ptr<Operation>> AlternativesOf(const Case& c, const Recipe& recipe) {
  const ScopedRecipe scope(recipe, c.dtype());
  return c.operation().Alternatives();
}

void SayAlternative(Verdict& verdict) {
  const std::string reason = verdict.message.empty() ? "" : "; " + verdict.message;
  verdict.message = "conforms to the alternative rounding decision of the formula" + reason;
}

bool SetFirstWrong(Verdict& verdict) {
  const auto wrong = std::ranges::find(verdict.trace, Grade::kFails, &TensorVerdict::grade);
  if (wrong == verdict.trace.end()) return false;
  verdict.status = Verdict::Status::kFails;
  verdict.grade = Grade::kFails;
  verdict.message = "first wrong at " + wrong->name;
  if (wrong != verdict.trace.begin()) verdict.message += "; everything before conforms";
  return true;
}

void SetUnverified(const std::vector<JudgedTensor>& tensors, Verdict& verdict) {
  if (verdict.status == Verdict::Status::kFails) return;
  UnverifiedReason reason = UnverifiedReasonOf(tensors);
  if (std::string text = LooseText(tensors); !text.empty())
    reason = {std::move(text), reason.open_row_count};
  if (reason.message.empty()) return;
  verdict.status = Verdict::Status::kUnverified;
  const auto is_judged = [](const TensorVerdict& t) { return t.judged > 0; };
  if (verdict.grade == Grade::kExact && std::ranges::none_of(verdict.tensors, is_judged))
    verdict.grade.reset();
  verdict.message = reason.message;
  verdict.open_row_count = reason.open_row_count;
  verdict.open_rows_acceptable = reason.open_rows_acceptable;
}

}  // namespace sextant::oracle
