#include "tools/report/merged_report.h"

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include "fixtures/store/digest.h"
#include "reference/base/count_text.h"
#include "reference/base/json.h"
#include "reference/base/text_file.h"
#include "reference/base/value_text.h"
#include "tools/report/json.h"
#include "tools/report/report_json.h"

namespace sextant::tools {
namespace {

using oracle::TensorVerdict;
using oracle::Verdict;

template <class Enum, size_t kCount>
Enum EnumOf(const Json& json, const Enum (&values)[kCount]) {
  const std::string name = json.get<std::string>();
  const auto at = std::ranges::find_if(values, [&](Enum value) { return NameOf(value) == name; });
  if (at == std::end(values)) throw Error("'", name, "' is not known");
  return *at;
}

oracle::Grade GradeOf(const Json& json) {
  using enum oracle::Grade;
  return EnumOf(json, {kExact, kFaithful, kWithin, kUnlikely, kFails});
}

std::optional<Sample> SampleOf(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return Sample{json.at("elements"), json.at("all_elements"), json.at("slices"),
                json.at("all_slices"), json.at("seed")};
}

oracle::FailingIndices FailingOf(const Json& json) {
  return {.axis = json.at("axis"),
          .derived_from = json.at("derived_from"),
          .extent = json.at("extent"),
          .ranges = json.at("ranges").get<std::vector<std::pair<int64_t, int64_t>>>(),
          .everywhere = json.at("everywhere"),
          .elsewhere = json.at("elsewhere")};
}

oracle::Element WorstOf(const Json& json) {
  oracle::Element worst{.where = json.at("where"),
                        .got = NumberOf(json.at("got")),
                        .expected = NumberOf(json.at("exact")),
                        .error = NumberOf(json.at("error")),
                        .is_index = json.at("is_choice"),
                        .index = json.at("index")};
  if (const Json& permitted = json.at("permitted"); !permitted.is_null()) {
    worst.permitted = NumberOf(permitted);
    worst.likely = NumberOf(json.at("likely"));
  }
  if (const Json& codes = json.at("admissible"); !codes.is_null())
    worst.admissible = {NumberOf(codes.at(0)), NumberOf(codes.at(1))};
  return worst;
}

TensorVerdict TensorOf(const Json& json) {
  TensorVerdict t{.name = json.at("name"), .worst = {}};
  t.grade = GradeOf(json.at("grade"));
  for (const auto& [key, count] : {std::pair("elements", &TensorVerdict::elements),
                                   {"judged", &TensorVerdict::judged},
                                   {"failed", &TensorVerdict::failed},
                                   {"unlikely", &TensorVerdict::unlikely},
                                   {"vacuous", &TensorVerdict::vacuous},
                                   {"unspecified", &TensorVerdict::unspecified},
                                   {"unjudgeable", &TensorVerdict::unjudgeable},
                                   {"enclosed", &TensorVerdict::enclosed},
                                   {"loose", &TensorVerdict::loose},
                                   {"left_out", &TensorVerdict::left_out}})
    t.*count = json.at(key);
  for (const auto& [key, number] :
       {std::pair("bias", &TensorVerdict::bias),
        {"spread", &TensorVerdict::spread},
        {"bias_in_standard_errors", &TensorVerdict::bias_in_standard_errors},
        {"correct_bias_bound", &TensorVerdict::correct_bias_bound}})
    t.*number = NumberOf(json.at(key));
  for (const Json& axis : json.at("failing")) t.failing.push_back(FailingOf(axis));
  t.worst = WorstOf(json.at("worst"));
  return t;
}

Verdict VerdictOf(const Json& json) {
  using enum Verdict::Status;
  Verdict v{.case_line = json.at("case"),
            .message = json.at("message"),
            .tensors = {},
            .trace = {},
            .causes = {}};
  v.status =
      EnumOf(json.at("status"), {kConforms, kFails, kUnverified, kUnsupported, kCouldNotRun});
  if (!json.at("grade").is_null()) v.grade = GradeOf(json.at("grade"));
  if (v.status == kConforms && !v.grade) throw Error(v.case_line, " conforms without a grade");
  v.sample = SampleOf(json.at("sample"));
  for (const Json& tensor : json.at("tensors")) v.tensors.push_back(TensorOf(tensor));
  if (json.contains("trace"))
    for (const Json& tensor : json.at("trace")) v.trace.push_back(TensorOf(tensor));
  for (const Json& cause : json.at("causes"))
    v.causes.push_back(
        {cause.at("name"), cause.at("why"), cause.at("measured"), cause.at("beside")});
  v.other_recipes = {json.at("conforming_recipes"), json.at("recipe_width"),
                     json.at("recipe_has_other_errors"), SampleOf(json.at("recipe_sample"))};
  v.open_row_count = json.at("open_rows");
  v.open_rows_acceptable = json.at("open_rows_acceptable");
  return v;
}

const std::string kExpected = "; expected a file of check --json-lines";

// One share: its cases, each with the number of its line, and its summary.
struct Share {
  std::string path;
  std::vector<std::pair<size_t, Json>> cases;
  Json summary;
};

// A verdict, and the committed case of one with fresh inputs.
std::pair<Verdict, std::optional<std::string>> CaseOf(size_t line, const Json& json) try {
  const Json& committed = json.at("fresh_of");
  return {VerdictOf(json), committed.is_null() ? std::optional<std::string>() : committed};
} catch (const Json::exception& e) {
  throw Error("line ", line, ": ", e.what(), kExpected);
} catch (const Error& e) {
  throw Error("line ", line, ": ", e.what(), kExpected);
}

Share ReadShare(const std::string& path) {
  constexpr size_t kLongest = size_t{1} << 30;  // bytes
  std::istringstream in(ReadText(path, kLongest, "a file of check --json-lines"));
  Share share{path, {}, {}};
  size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    const auto refuse = [&](const std::string& why) {
      throw Error(path, ": line ", number, ": ", why);
    };
    if (!share.summary.is_null()) refuse("comes after the summary, which ends a report");
    try {
      Json json = ParseJson(line, 16);
      const std::string type = json.is_object() ? json.value("type", "") : "";
      if (type == "summary")
        share.summary = std::move(json);
      else if (type == "case")
        share.cases.push_back({number, std::move(json)});
      else
        throw Error("is neither a case nor a summary");
    } catch (const Json::exception& e) {
      refuse(e.what() + kExpected);
    } catch (const Error& e) {
      refuse(e.what() + kExpected);
    }
  }
  if (share.summary.is_null())
    throw Error(path, ": has no summary at its end: its run did not end");
  return share;
}

// Requires that the shares differ only in what they judged.
void RequireOneRun(const std::vector<Share>& shares) {
  const Share& first = shares.front();
  for (const Share& share : shares) {
    const Json& own = share.summary.at("shard");
    if (own.is_null())
      throw Error(share.path, ": is the report of a whole run, expected one of check --shard I/N");
    if (share.summary.at("version") != kReportVersion)
      throw Error(share.path, ": is a report of version ", share.summary.at("version").dump(),
                  ", expected ", kReportVersion, ", which this program writes");
    const auto compare = [&](const char* key, const Json& a, const Json& b) {
      if (a != b)
        throw Error(share.path, ": differs from ", first.path, " in '", key, "': it has ", b.dump(),
                    ", expected ", a.dump());
    };
    for (const char* key : {"program", "engine", "open_rows", "subject", "recipe", "strict",
                            "supported_only", "sampled_is_enough", "budget", "timeout"}) {
      // A subject that did not start has no recipe.
      if (std::string(key) == "recipe" && share.summary.at("not_started") != "") continue;
      compare(key, first.summary.at(key), share.summary.at(key));
    }
    const Json& expected = first.summary.at("shard");
    for (const char* key : {"count", "all_cases", "sha256"})
      compare(key, expected.at(key), own.at(key));
    const auto words = [](const Json& with) { return with.is_null() ? Json() : with.at("words"); };
    compare("with", words(first.summary.at("with")), words(share.summary.at("with")));
    const auto seed = [](const Json& fresh) {
      return fresh.is_null() ? Json() : Json{fresh.at("seed"), fresh.at("questions").is_null()};
    };
    compare("fresh", seed(first.summary.at("fresh")), seed(share.summary.at("fresh")));
  }
}

// The shares in their order, each once.
std::vector<Share> AllShares(const std::vector<std::string>& paths) {
  std::vector<Share> shares;
  for (const std::string& path : paths) shares.push_back(ReadShare(path));
  RequireOneRun(shares);
  const size_t count = shares.front().summary.at("shard").at("count");
  constexpr size_t kMost = 1'000'000;
  if (count < 1 || count > kMost) throw Error(paths.front(), ": is a share of ", count);
  std::vector<const Share*> found(count);
  for (const Share& share : shares) {
    const size_t index = share.summary.at("shard").at("index");
    if (index < 1 || index > count) throw Error(share.path, ": is share ", index, " of ", count);
    const Share*& place = found[index - 1];
    if (place)
      throw Error(share.path, ": is share ", index, " of ", count, ", as ", place->path, " is");
    place = &share;
  }
  std::vector<Share> sorted;
  for (size_t i = 0; i < count; ++i) {
    if (!found[i]) throw Error("the share ", i + 1, " of ", count, " is missing");
    sorted.push_back(*found[i]);
  }
  return sorted;
}

// Adds the cases of a share at their places among all cases. A fresh case follows its own, or has
// its place.
void AddCases(const Share& share, std::map<size_t, std::vector<Verdict>>& places, size_t all_cases,
              Report& report) {
  const Json& counts = share.summary.at("counts");
  if (counts.at("cases") != share.cases.size())
    throw Error("has ", CountText(share.cases.size(), "case"), ", but its summary counts ",
                counts.at("cases").dump());
  const std::vector<size_t> positions =
      share.summary.at("shard").at("cases").get<std::vector<size_t>>();
  size_t next = 0, last = 0;
  for (const auto& [line, json] : share.cases) {
    auto [verdict, committed] = CaseOf(line, json);
    if (committed) {
      if (!report.fresh) throw Error("has a fresh case, but no seed");
      report.fresh->committed.emplace(verdict.case_line, *committed);
    }
    if (!committed || report.fresh->adversarial) {
      if (next == positions.size() || positions[next] >= all_cases ||
          places.contains(positions[next]))
        throw Error("its cases are not those of its share");
      last = positions[next++];
    }
    places[last].push_back(std::move(verdict));
  }
  const size_t lacking = positions.size() - next;
  if (lacking > 0 && counts.at("not_reached") == 0)
    throw Error("lacks ", CountText(lacking, "case"), " of its share");
  report.not_reached += lacking;
}

}  // namespace

Report MergedReport(const std::vector<std::string>& paths) try {
  const std::vector<Share> shares = AllShares(paths);
  const Json& first = shares.front().summary;
  Report report{.subject = first.at("subject"),
                .recipe = first.at("recipe"),
                .strict = first.at("strict"),
                .timeout = first.at("timeout"),
                .limits = first.at("limits").is_null() ? "" : first.at("limits"),
                .supported_only = first.at("supported_only"),
                .sampled_is_enough = first.at("sampled_is_enough"),
                .open_rows = first.at("open_rows"),
                .engine = first.at("engine")};
  if (const Json& budget = first.at("budget"); !budget.is_null()) {
    if (!budget.at("seconds").is_null()) report.budget_seconds = budget.at("seconds");
    if (!budget.at("elements").is_null()) report.budget.elements = budget.at("elements");
    report.budget.seed = budget.at("seed");
  }
  if (const Json& fresh = first.at("fresh"); !fresh.is_null()) {
    report.fresh = FreshCases{.seed = fresh.at("seed").get<uint64_t>(),
                              .adversarial = !fresh.at("questions").is_null()};
    for (const Share& share : shares) {
      const Json& questions = share.summary.at("fresh").at("questions");
      if (!questions.is_null()) report.fresh->questions += questions.get<size_t>();
    }
  }
  if (const Json& with = first.at("with"); !with.is_null()) {
    report.with = with.at("words");
    report.replaced.equal = with.at("equal");
    for (const Json& one : with.at("not_applicable"))
      report.replaced.not_applicable.push_back({one.at("case"), one.at("why")});
  }
  std::map<size_t, std::vector<Verdict>> places;
  const size_t all_cases = first.at("shard").at("all_cases");
  for (const Share& share : shares) {
    try {
      AddCases(share, places, all_cases, report);
    } catch (const Error& e) {
      throw Error(share.path, ": ", e.what());
    } catch (const Json::exception& e) {
      throw Error(share.path, ": is not a report of this program: ", e.what());
    }
    const std::string not_started = share.summary.at("not_started");
    const std::string after = share.summary.at("after_last_answer");
    if (report.not_started.empty()) report.not_started = not_started;
    if (report.after_last_answer.empty()) report.after_last_answer = after;
    if (report.recipe.empty()) report.recipe = share.summary.at("recipe");
  }
  std::string lines;
  for (auto& [position, place] : places) {
    const Verdict& asked = place.front();
    const std::string* const committed = report.CommittedOf(asked);
    lines += (committed ? *committed : asked.case_line) + "\n";
    for (Verdict& verdict : place) report.verdicts.push_back(std::move(verdict));
  }
  if (places.size() + report.not_reached != all_cases)
    throw Error(paths.front(), ": the shares have ", places.size() + report.not_reached, " of ",
                CountText(all_cases, "case"));
  if (report.not_reached == 0 && first.at("shard").at("sha256") != fixtures::DigestOf(lines))
    throw Error(paths.front(), ": the cases of the shares are not those of the run");
  return report;
} catch (const Json::exception& e) {
  throw Error("the reports are not those of check --shard: ", e.what());
}

}  // namespace sextant::tools
