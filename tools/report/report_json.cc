#include "tools/report/report_json.h"

#include <map>

#include "tools/report/json.h"

namespace sextant::tools {
namespace {

using oracle::TensorVerdict;
using oracle::Verdict;

Json TensorToJson(const TensorVerdict& t) {
  return {{"name", t.name},
          {"grade", NameOf(t.grade)},
          {"elements", t.elements},
          {"judged", t.judged},
          {"failed", t.failed},
          {"unlikely", t.unlikely},
          {"vacuous", t.vacuous},
          {"unspecified", t.unspecified},
          {"unjudgeable", t.unjudgeable},
          {"enclosed", t.enclosed},
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

}  // namespace

void WriteJson(const Report& report, OutputFile& file) {
  Json json = {{"subject", report.subject},  {"recipe", report.recipe},
               {"strict", report.strict},    {"exit_status", static_cast<int>(report.Status())},
               {"counts", CountsOf(report)}, {"after_last_answer", report.after_last_answer},
               {"cases", Json::array()}};
  for (const Verdict& v : report.verdicts) {
    Json one = {
        {"case", v.case_line},           {"status", NameOf(v.status)}, {"grade", nullptr},
        {"fails", report.Fails(v)},      {"message", v.message},       {"causes", Json::array()},
        {"open_rows", v.open_row_count}, {"tensors", Json::array()}};
    if (v.grade) one["grade"] = NameOf(*v.grade);
    for (const oracle::Cause& cause : v.causes)
      one["causes"].push_back({{"name", cause.name}, {"why", cause.why}});
    for (const TensorVerdict& t : v.tensors) one["tensors"].push_back(TensorToJson(t));
    if (!v.trace.empty()) one["trace"] = Json::array();
    for (const TensorVerdict& t : v.trace) one["trace"].push_back(TensorToJson(t));
    json["cases"].push_back(std::move(one));
  }
  WriteJsonFile(json, file);
}

}  // namespace sextant::tools
