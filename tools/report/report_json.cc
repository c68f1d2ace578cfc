#include "tools/report/report_json.h"

#include <algorithm>
#include <map>
#include <vector>

#include "tools/report/json.h"
#include "tools/report/judgement_text.h"

namespace sextant::tools {
namespace {

using oracle::TensorVerdict;
using oracle::Verdict;

// [{"axis": "S", "extent": 9, "ranges": [[3, 5]], "more_ranges": 0}, ...]: first and last index.
Json FailingToJson(const TensorVerdict& t) {
  constexpr size_t kMostRanges = 64;
  Json json = Json::array();
  for (const oracle::FailingIndices& axis : t.failing) {
    const size_t shown = std::min(axis.ranges.size(), kMostRanges);
    json.push_back({{"axis", axis.axis},
                    {"extent", axis.extent},
                    {"ranges", std::vector(axis.ranges.begin(),
                                           axis.ranges.begin() + static_cast<ptrdiff_t>(shown))},
                    {"more_ranges", axis.ranges.size() - shown}});
  }
  return json;
}

Json TensorToJson(const TensorVerdict& t) {
  return {{"name", t.name},
          {"grade", NameOf(t.grade)},
          {"elements", t.elements},
          {"judged", t.judged},
          {"failed", t.failed},
          {"failing", FailingToJson(t)},
          {"unlikely", t.unlikely},
          {"vacuous", t.vacuous},
          {"unspecified", t.unspecified},
          {"unjudgeable", t.unjudgeable},
          {"enclosed", t.enclosed},
          {"left_out", t.left_out},
          {"worst",
           {{"where", t.worst.where},
            {"got", ToJson(t.worst.got)},
            {"exact", ToJson(t.worst.expected)},
            {"error", ToJson(t.worst.error)},
            {"permitted", ToJson(t.worst.permitted)},
            {"likely", ToJson(t.worst.likely)}}},
          {"bias", ToJson(t.bias)},
          {"spread", ToJson(t.spread)},
          {"bias_in_standard_errors", ToJson(t.bias_in_standard_errors)},
          {"correct_bias_bound", ToJson(t.correct_bias_bound)}};
}

// The number of cases with each result. A case that fails only with --strict counts as failing.
Json CountsOf(const Report& report) {
  std::map<Verdict::Status, size_t> counts;
  for (const Verdict& v : report.verdicts)
    ++counts[report.Fails(v) ? Verdict::Status::kFails : v.status];
  return {{"cases", report.verdicts.size()},
          {"conform", counts[Verdict::Status::kConforms]},
          {"fail", counts[Verdict::Status::kFails]},
          {"unverified", counts[Verdict::Status::kUnverified]},
          {"unsupported", counts[Verdict::Status::kUnsupported]},
          {"could_not_run", counts[Verdict::Status::kCouldNotRun]}};
}

Json VerdictToJson(const Verdict& v, bool fails) {
  Json json = {{"case", v.case_line},
               {"status", NameOf(v.status)},
               {"grade", nullptr},
               {"fails", fails},
               {"message", v.message},
               {"causes", Json::array()},
               {"open_rows", v.open_row_count},
               {"open_rows_acceptable", v.open_rows_acceptable},
               {"tensors", Json::array()}};
  if (v.grade) json["grade"] = NameOf(*v.grade);
  for (const oracle::Cause& cause : v.causes)
    json["causes"].push_back({{"name", cause.name}, {"why", cause.why}});
  for (const TensorVerdict& t : v.tensors) json["tensors"].push_back(TensorToJson(t));
  if (!v.trace.empty()) json["trace"] = Json::array();
  for (const TensorVerdict& t : v.trace) json["trace"].push_back(TensorToJson(t));
  return json;
}

}  // namespace

Json ToJson(const Judgement& judgement) {
  Json json = VerdictToJson(judgement.verdict, ReportOf(judgement).Fails(judgement.verdict));
  json["version"] = 0;
  json["recipe"] = judgement.recipe;
  json["strict"] = judgement.strict;
  json["budget"] = nullptr;
  if (judgement.budget.elements > 0)
    json["budget"] = {{"elements", judgement.budget.elements}, {"seed", judgement.budget.seed}};
  json["conforming_recipes"] = judgement.conforming_recipes;
  json["defaults"] = judgement.question.defaults;
  json["kept"] = judgement.kept;
  json["repeat"] = judgement.repeat;
  json["text"] = TextOf(judgement);
  return json;
}

void WriteJson(const Report& report, OutputFile& file) {
  Json json = {{"subject", report.subject},  {"recipe", report.recipe},
               {"strict", report.strict},    {"exit_status", static_cast<int>(report.Status())},
               {"counts", CountsOf(report)}, {"after_last_answer", report.after_last_answer},
               {"cases", Json::array()}};
  for (const Verdict& v : report.verdicts)
    json["cases"].push_back(VerdictToJson(v, report.Fails(v)));
  WriteJsonFile(json, file);
}

}  // namespace sextant::tools
