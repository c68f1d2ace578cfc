#include "tools/report/report_json.h"

#include <algorithm>
#include <map>
#include <vector>

#include "reference/base/printable.h"
#include "tools/report/advice.h"
#include "tools/report/json.h"
#include "tools/report/judgement_text.h"
#include "tools/report/page.h"
#include "tools/report/run_causes.h"

namespace sextant::tools {
namespace {

using oracle::TensorVerdict;
using oracle::Verdict;

// [{"axis": "S", "extent": 9, "ranges": [[3, 5]], "more_ranges": 0, "elsewhere": false}, ...]
Json FailingToJson(const TensorVerdict& t, size_t most_ranges) {
  Json json = Json::array();
  for (const oracle::FailingIndices& axis : t.failing) {
    const size_t shown = std::min(axis.ranges.size(), most_ranges);
    json.push_back({{"axis", axis.axis},
                    {"derived_from", axis.derived_from},
                    {"extent", axis.extent},
                    {"ranges", std::vector(axis.ranges.begin(),
                                           axis.ranges.begin() + static_cast<ptrdiff_t>(shown))},
                    {"more_ranges", axis.ranges.size() - shown},
                    {"everywhere", axis.everywhere},
                    {"elsewhere", axis.elsewhere}});
  }
  return json;
}

// Of a code, else null.
Json AdmissibleToJson(const TensorVerdict& t) {
  if (!t.worst.admissible) return nullptr;
  const auto [least, most] = *t.worst.admissible;
  return {ToJson(least), ToJson(most)};
}

Json TensorToJson(const TensorVerdict& t, size_t most_ranges) {
  return {{"name", t.name},
          {"grade", NameOf(t.grade)},
          {"elements", t.elements},
          {"judged", t.judged},
          {"failed", t.failed},
          {"failing", FailingToJson(t, most_ranges)},
          {"unlikely", t.unlikely},
          {"vacuous", t.vacuous},
          {"unspecified", t.unspecified},
          {"unjudgeable", t.unjudgeable},
          {"enclosed", t.enclosed},
          {"loose", t.loose},
          {"left_out", t.left_out},
          {"worst",
           {{"where", t.worst.where},
            {"index", t.worst.index},
            {"is_choice", t.worst.is_index},
            {"got", ToJson(t.worst.got)},
            {"exact", ToJson(t.worst.expected)},
            {"error", ToJson(t.worst.error)},
            {"permitted", t.worst.admissible ? Json() : ToJson(t.worst.permitted)},
            {"likely", t.worst.admissible ? Json() : ToJson(t.worst.likely)},
            {"admissible", AdmissibleToJson(t)}}},
          {"bias", ToJson(t.bias)},
          {"spread", ToJson(t.spread)},
          {"bias_in_standard_errors", ToJson(t.bias_in_standard_errors)},
          {"correct_bias_bound", ToJson(t.correct_bias_bound)}};
}

// The number of cases with each status, whatever is expected, and of those with an expectation. A
// case that fails only with --strict counts as failing.
Json CountsAsJson(const Report& report) {
  std::map<Verdict::Status, size_t> counts;
  std::map<Result, size_t> results;
  for (const Verdict& v : report.verdicts) {
    ++counts[report.Fails(v) ? Verdict::Status::kFails : v.status];
    ++results[report.Assess(v).result];
  }
  return {{"cases", report.verdicts.size()},
          {"conform", counts[Verdict::Status::kConforms]},
          {"fail", counts[Verdict::Status::kFails]},
          {"unverified", counts[Verdict::Status::kUnverified]},
          {"unsupported", counts[Verdict::Status::kUnsupported]},
          {"could_not_run", counts[Verdict::Status::kCouldNotRun]},
          {"as_expected", results[Result::kAsExpected]},
          {"unexpected", results[Result::kUnexpected]},
          {"not_reached", report.not_reached},
          {"not_applicable", report.replaced.not_applicable.size()}};
}

// The expectation of a case, or null.
Json ExpectedToJson(const Assessment& assessment) {
  if (!assessment.expected) return nullptr;
  const Expectation& e = *assessment.expected;
  return {{"where", e.where},   {"outcome", NameOf(e.outcome)},
          {"reason", e.reason}, {"link", e.link},
          {"until", e.until},   {"contradiction", assessment.contradiction}};
}

Json SampleToJson(const std::optional<Sample>& sample) {
  if (!sample) return nullptr;
  return {{"elements", sample->elements},
          {"all_elements", sample->all_elements},
          {"slices", sample->slices},
          {"all_slices", sample->all_slices},
          {"seed", sample->seed}};
}

Json CausesToJson(const std::vector<oracle::Cause>& causes) {
  Json json = Json::array();
  for (const auto& [name, why, is_measured, is_beside] : causes)
    json.push_back(
        {{"name", name}, {"why", why}, {"measured", is_measured}, {"beside", is_beside}});
  return json;
}

Json VerdictToJson(const Report& report, const Verdict& v) {
  const Assessment assessment = report.Assess(v);
  Json json = {{"case", v.case_line},
               {"status", NameOf(v.status)},
               {"grade", nullptr},
               {"outcome", NameOf(OutcomeOf(v, report.strict))},
               {"fails", report.Fails(v)},
               {"expected", ExpectedToJson(assessment)},
               {"message", v.message},
               {"causes", CausesToJson(v.causes)},
               {"conforming_recipes", v.other_recipes.texts},
               {"recipe_width", v.other_recipes.width},
               {"recipe_has_other_errors", v.other_recipes.have_other_errors},
               {"recipe_sample", SampleToJson(v.other_recipes.sample)},
               {"open_rows", v.open_row_count},
               {"open_rows_acceptable", v.open_rows_acceptable},
               {"sample", SampleToJson(v.sample)},
               {"fresh_of", nullptr},
               {"tensors", Json::array()}};
  if (const auto* committed = report.CommittedOf(v)) json["fresh_of"] = *committed;
  if (v.grade) json["grade"] = NameOf(*v.grade);
  // Whoever merges shares needs all ranges.
  const size_t most_ranges = report.shard ? SIZE_MAX : 64;
  for (const TensorVerdict& t : v.tensors) json["tensors"].push_back(TensorToJson(t, most_ranges));
  if (!v.trace.empty()) json["trace"] = Json::array();
  for (const TensorVerdict& t : v.trace) json["trace"].push_back(TensorToJson(t, most_ranges));
  return json;
}

// What limits the part that is judged, or null.
Json BudgetToJson(const Report& report) {
  if (report.budget_seconds == 0 && report.budget.elements == 0) return nullptr;
  Json json = {{"seconds", nullptr}, {"elements", nullptr}, {"seed", report.budget.seed}};
  if (report.budget_seconds > 0) json["seconds"] = report.budget_seconds;
  if (report.budget.elements > 0) json["elements"] = report.budget.elements;
  return json;
}

// The cases of which only a part was judged, or null.
Json SampleToJson(const Report& report) {
  const SampledCases sampled(report.verdicts);
  if (sampled.cases == 0) return nullptr;
  return {{"cases", sampled.cases},
          {"elements", sampled.elements},
          {"all_elements", sampled.all_elements}};
}

// The seed and the number of the cases with fresh inputs, or null.
Json FreshToJson(const Report& report) {
  if (!report.fresh) return nullptr;
  const auto is_fresh = [&report](const Verdict& v) { return report.CommittedOf(v) != nullptr; };
  return {{"seed", report.fresh->seed},
          {"questions", report.fresh->adversarial ? Json(report.fresh->questions) : Json()},
          {"cases", std::ranges::count_if(report.verdicts, is_fresh)}};
}

// The words of --with, or null.
Json WithToJson(const Report& report) {
  if (report.with.empty()) return nullptr;
  Json json = {
      {"words", report.with}, {"equal", report.replaced.equal}, {"not_applicable", Json::array()}};
  for (const auto& [line, why] : report.replaced.not_applicable)
    json["not_applicable"].push_back({{"case", line}, {"why", why}});
  return json;
}

Json CausesToJson(const Report& report) {
  Json json = Json::array();
  for (const auto& [operation, failing, unexplained, causes] : CausesOf(report)) {
    Json list = Json::array();
    for (const auto& [cause, cases, new_cases, only_possible, refuting] : causes) {
      list.push_back({{"name", cause.name},
                      {"why", cause.why},
                      {"measured", cause.is_measured},
                      {"cases", cases},
                      {"new_cases", new_cases},
                      {"only_possible", only_possible},
                      {"refuting", refuting}});
    }
    json.push_back({{"operation", operation},
                    {"failing", failing},
                    {"unexplained", unexplained},
                    {"causes", list}});
  }
  return json;
}

// The share of the cases that was judged, or null.
Json ShardToJson(const Report& report) {
  if (!report.shard) return nullptr;
  const JudgedShare& share = *report.shard;
  return {{"index", share.shard.index + 1},
          {"count", share.shard.count},
          {"all_cases", share.all_cases},
          {"sha256", share.digest},
          {"cases", share.positions}};
}

// Everything but the cases.
Json SummaryToJson(const Report& report) {
  const auto& entries = report.expectations.entries();
  const auto nameless = std::ranges::count(entries, kNoReasonYet, &Expectation::reason);
  return {{"version", kReportVersion},
          {"subject", Marked(report.subject)},
          {"recipe", report.recipe},
          {"strict", report.strict},
          {"supported_only", report.supported_only},
          {"sampled_is_enough", report.sampled_is_enough},
          {"budget", BudgetToJson(report)},
          {"sample", SampleToJson(report)},
          {"fresh", FreshToJson(report)},
          {"with", WithToJson(report)},
          {"timeout", report.timeout},
          {"limits", report.limits.empty() ? Json() : Json(report.limits)},
          {"open_rows", report.open_rows},
          {"engine", report.engine},
          {"program", SEXTANT_VERSION},
          {"shard", ShardToJson(report)},
          {"advice", AdviceOf(report)},
          {"exit_status", static_cast<int>(report.Status())},
          {"why_not_verified", report.WhyNotVerified()},
          {"counts", CountsAsJson(report)},
          {"likely_causes", CausesToJson(report)},
          {"stale_expectations", report.stale_expectations},
          {"expectations_without_reason", nameless},
          {"not_started", report.not_started},
          {"after_last_answer", report.after_last_answer}};
}

Json ReportToJson(const Report& report) {
  Json json = SummaryToJson(report);
  json["cases"] = Json::array();
  for (const Verdict& v : report.verdicts) json["cases"].push_back(VerdictToJson(report, v));
  return json;
}

}  // namespace

Json ToJson(const Judgement& judgement) {
  const Report report = ReportOf(judgement);
  Json json = VerdictToJson(report, judgement.verdict);
  if (report.Status() == kNothing) {  // without an element nothing was verified
    json["status"] = NameOf(Outcome::kUnverified);
    json["grade"] = nullptr;
  }
  json["version"] = kReportVersion;
  json["recipe"] = judgement.recipe;
  json["strict"] = judgement.strict;
  json["budget"] = nullptr;
  if (judgement.budget.elements > 0)
    json["budget"] = {{"elements", judgement.budget.elements}, {"seed", judgement.budget.seed}};
  json["defaults"] = judgement.question.defaults;
  json["unshown"] = judgement.unshown;
  json["layout"] = judgement.layout;
  json["kept"] = judgement.kept;
  json["repeat"] = judgement.repeat;
  json["text"] = TextOf(judgement);
  return json;
}

void WriteJson(const Report& report, OutputFile& file) {
  WriteJsonFile(ReportToJson(report), file);
}

void WritePage(const Report& report, OutputFile& file) {
  Json json = ReportToJson(report);
  const std::vector<Verdict> verdicts = VerdictsOf(report);
  for (size_t i = 0; i < verdicts.size(); ++i) {
    json["cases"][i]["causes"] = CausesToJson(verdicts[i].causes);
    json["cases"][i]["repeat"] = RepeatCommand(report, verdicts[i]);
  }
  const std::string page = PageOf(json);
  file.Write([&](std::ostream& out) { out << page; });
}

std::string JsonLineOf(const Report& report, const Verdict& verdict) {
  Json json = {{"type", "case"}};
  json.update(VerdictToJson(report, verdict));
  return PrintJson(json);
}

std::string SummaryJsonLine(const Report& report) {
  Json json = {{"type", "summary"}};
  json.update(SummaryToJson(report));
  return PrintJson(json);
}

Json ToJson(const Expectations& known) {
  Json json = {{"version", kReportVersion},
               {"entries", Json::array()},
               {"entry", nullptr},
               {"contradiction", ""}};
  for (const Expectation& entry : known.entries()) {
    json["entries"].push_back({{"where", entry.where},
                               {"cases", entry.cases},
                               {"outcome", NameOf(entry.outcome)},
                               {"may", entry.may},
                               {"reason", entry.reason},
                               {"link", entry.link},
                               {"until", entry.until},
                               {"expired", entry.expired}});
  }
  return json;
}

}  // namespace sextant::tools
