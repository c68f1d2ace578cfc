// The exit status of a report, and why it is not 0.
#include <algorithm>
#include <map>

#include "reference/base/count_text.h"
#include "tools/report/report.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

bool ConformsWithoutElement(const Verdict& verdict) {
  const auto is_empty = [](const oracle::TensorVerdict& t) { return t.elements == 0; };
  return verdict.status == Verdict::Status::kConforms &&
         std::ranges::all_of(verdict.tensors, is_empty);
}

// An answer that is unverified because of a NaN or an infinity of the inputs alone.
// Any other reason may be the answer's: intermediates that it has only for inputs that it knows.
bool IsUnspecified(const Verdict& verdict) {
  const auto is_open = [](const oracle::TensorVerdict& t) {
    return t.vacuous + t.unjudgeable + t.loose > 0;
  };
  const auto is_unspecified = [](const oracle::TensorVerdict& t) { return t.unspecified > 0; };
  return verdict.status == Verdict::Status::kUnverified &&
         std::ranges::any_of(verdict.tensors, is_unspecified) &&
         std::ranges::none_of(verdict.tensors, is_open);
}

// The number of cases with each result.
std::map<Result, size_t> CountsOf(const Report& report) {
  std::map<Result, size_t> counts;
  for (const Verdict& verdict : report.verdicts) ++counts[report.Assess(verdict).result];
  return counts;
}

}  // namespace

bool HasJudgedElement(const Verdict& verdict) {
  const auto is_judged = [](const oracle::TensorVerdict& t) { return t.judged > 0; };
  return std::ranges::any_of(verdict.tensors, is_judged) ||
         std::ranges::any_of(verdict.trace, is_judged);
}

Report ReportOf(const Judgement& judgement) {
  return {.subject = "the given tensors",
          .recipe = judgement.recipe,
          .strict = judgement.strict,
          .verdicts = {judgement.verdict},
          .sampled_is_enough = true};
}

bool Report::Fails(const Verdict& verdict) const {
  const Outcome outcome = OutcomeOf(verdict, strict);
  const auto is_loose = [](const oracle::TensorVerdict& t) { return t.loose > 0; };
  return outcome == Outcome::kFails || (strict && (outcome == Outcome::kUnlikely ||
                                                   std::ranges::any_of(verdict.tensors, is_loose)));
}

const std::string* Report::CommittedOf(const Verdict& verdict) const {
  if (!fresh) return nullptr;
  const auto at = fresh->committed.find(verdict.case_line);
  return at == fresh->committed.end() ? nullptr : &at->second;
}

Assessment Report::Assess(const Verdict& verdict) const {
  const Result passes = verdict.sample && !sampled_is_enough ? Result::kInPart : Result::kPasses;
  const std::string* const committed = CommittedOf(verdict);
  // Nobody has chosen these inputs for these words.
  const bool is_open_by_inputs = (committed || !with.empty()) && IsUnspecified(verdict);
  const std::string& line = committed ? *committed : verdict.case_line;
  if (const Expectation* expected = expectations.For(line, OutcomeOf(verdict, strict))) {
    // What is expected may be in the part that was not judged, or show only with other inputs.
    if ((verdict.sample || committed) && OutcomeOf(verdict, strict) == Outcome::kConforms)
      return {passes, expected};
    if (is_open_by_inputs) return {Result::kOpenByInputs, expected};
    std::string why = Contradiction(*expected, verdict, strict);
    if (!why.empty()) return {Result::kUnexpected, expected, std::move(why)};
    return {expected->outcome == Outcome::kConforms ? passes : Result::kAsExpected, expected};
  }
  if (Fails(verdict)) return {Result::kFails};
  switch (verdict.status) {
    case Verdict::Status::kCouldNotRun:
      return {Result::kCouldNotRun};
    case Verdict::Status::kUnsupported:
      return {Result::kUnsupported};
    case Verdict::Status::kUnverified:
      return {is_open_by_inputs ? Result::kOpenByInputs : Result::kUnverified};
    default:
      return {passes};
  }
}

bool Report::IsFailure(const Verdict& verdict) const {
  const Result result = Assess(verdict).result;
  return result == Result::kFails || result == Result::kUnexpected ||
         result == Result::kCouldNotRun;
}

std::string_view NameOf(const Assessment& assessment, const Verdict& verdict, bool strict) {
  if (assessment.result == Result::kAsExpected) return "as_expected";
  if (assessment.result == Result::kUnexpected) return "unexpected";
  if (assessment.result == Result::kPasses || assessment.result == Result::kInPart)
    return NameOf(verdict.grade.value());
  return assessment.result == Result::kFails ? NameOf(Outcome::kFails)
                                             : NameOf(OutcomeOf(verdict, strict));
}

ExitStatus Report::Status() const {
  auto counts = CountsOf(*this);
  if (counts[Result::kFails] + counts[Result::kUnexpected] + stale_expectations.size() > 0)
    return kNonconforming;
  if (counts[Result::kCouldNotRun] > 0 || !not_started.empty() || !after_last_answer.empty())
    return kNotRun;
  const bool declined = counts[Result::kUnsupported] > 0 && !supported_only;
  if (declined || counts[Result::kUnverified] + not_reached > 0) return kIncomplete;
  if (!sampled_is_enough && SampledCases(verdicts).cases > 0) return kIncomplete;
  if (counts[Result::kAsExpected] > 0 || std::ranges::any_of(verdicts, HasJudgedElement))
    return kVerified;
  return std::ranges::all_of(verdicts, ConformsWithoutElement) ? kNothing : kIncomplete;
}

std::string Report::WhyNotVerified() const {
  const ExitStatus status = Status();
  if (status == kVerified) return "";
  std::string text;
  const auto add = [&text](size_t count, const std::string& what) {
    if (count > 0) text += (text.empty() ? "" : ", ") + CountText(count, "case") + " " + what;
  };
  auto counts = CountsOf(*this);
  add(counts[Result::kFails], "without expectation: fails");
  add(counts[Result::kUnexpected], "with another result than expected");
  add(counts[Result::kCouldNotRun], "could not run");
  add(supported_only ? 0 : counts[Result::kUnsupported],
      "unsupported (--supported-only accepts them)");
  add(counts[Result::kUnverified], "unverified");
  add(not_reached, "not reached");
  add(sampled_is_enough ? 0 : SampledCases(verdicts).cases,
      "judged only in part (--sampled-is-enough accepts it)");
  const auto say = [&text](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
  if (!stale_expectations.empty()) say(CountText(stale_expectations.size(), "stale expectation"));
  if (!not_started.empty()) say("the subject could not be started");
  if (!after_last_answer.empty()) say("the subject broke the protocol after its last answer");
  if (text.empty()) say(status == kNothing ? "no output has an element" : "nothing was judged");
  return text;
}

}  // namespace sextant::tools
