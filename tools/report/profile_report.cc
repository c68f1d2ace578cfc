#include "tools/report/profile_report.h"

#include <iomanip>

#include "oracle/audit/suggest.h"
#include "reference/base/count_text.h"
#include "reference/base/printable.h"
#include "tools/api/shell_quoted.h"

namespace sextant::tools {
namespace {

using oracle::Distribution;
using oracle::ErrorUnit;
using oracle::kErrorUnits;

constexpr std::pair<const char*, double Distribution::*> kNumbers[] = {
    {"median", &Distribution::median},
    {"p99", &Distribution::p99},
    {"largest", &Distribution::largest},
    {"rms", &Distribution::rms},
    {"bias", &Distribution::bias}};

std::string_view NameOfUnit(ErrorUnit unit) {
  return oracle::NamesOf(unit)[static_cast<size_t>(unit)];
}

Json AsJson(const Distribution& of) {
  Json json = Json::object();
  for (const auto& [name, member] : kNumbers) json[name] = ToJson(of.*member);
  return json;
}

Json AsJson(const Distributions& errors) {
  Json json = Json::object();
  for (const ErrorUnit unit : kErrorUnits)
    json[std::string(NameOfUnit(unit))] = AsJson(errors[static_cast<size_t>(unit)]);
  return json;
}

Json AsJson(const ErrorMap& map) {
  Json json = {{"row_axis", map.row_axis},
               {"column_axis", map.column_axis},
               {"rows", ToJson(map.rows)},
               {"columns", ToJson(map.columns)},
               {"largest", Json::array()}};
  for (const auto& row : map.largest) json["largest"].push_back(ToJson(row));
  return json;
}

Json AsJson(const oracle::StepCosts& costs) {
  Json json = {{"total", AsJson(costs.total)},
               {"remainder", ToJson(costs.remainder)},
               {"steps", Json::array()}};
  for (const oracle::StepCost& one : costs.steps) {
    json["steps"].push_back({{"step", one.step},
                             {"rule", one.rule},
                             {"only", AsJson(one.only)},
                             {"all_but", AsJson(one.all_but)},
                             {"up_to", AsJson(one.up_to)},
                             {"added", ToJson(one.added)}});
  }
  return json;
}

// The command that asks and judges one case again; empty if the subject is a function of the
// caller.
std::string RepeatCommand(const std::string& line, const SubjectProfile& subject) {
  if (!subject.has_command) return "";
  std::string command = "sextant check " + PrintableWord(oracle::ShortestLine(Case::Parse(line))) +
                        " --subject " + PrintableWord(subject.name);
  if (!subject.has_own_recipe) command += " --recipe " + PrintableWord(subject.recipe);
  return command + " -v";
}

Json AsJson(const SubjectProfile& subject) {
  Json json = {{"subject", Marked(subject.name)},
               {"recipe", subject.recipe},
               {"answered", subject.answered},
               {"not_answered", subject.not_answered},
               {"elements", subject.elements},
               {"errors", AsJson(subject.errors)},
               {"axis", subject.axis},
               {"groups", Json::array()},
               {"histogram", subject.histogram},
               {"map", nullptr},
               {"worst", Json::array()},
               {"steps", nullptr},
               {"found", Json::array()}};
  for (const GroupProfile& group : subject.groups) {
    json["groups"].push_back({{"key", ToJson(group.key)},
                              {"elements", group.elements},
                              {"errors", AsJson(group.errors)}});
  }
  if (subject.map) json["map"] = AsJson(*subject.map);
  if (subject.steps) json["steps"] = AsJson(*subject.steps);
  for (const WorstElement& one : subject.worst) {
    json["worst"].push_back({{"case", one.case_line},
                             {"where", one.where},
                             {"key", ToJson(one.key)},
                             {"got", ToJson(one.got)},
                             {"exact", ToJson(one.exact)},
                             {"ulps", ToJson(one.ulps)},
                             {"permitted", ToJson(one.permitted)},
                             {"repeat", RepeatCommand(one.case_line, subject)}});
  }
  for (const oracle::WorstCase& one : subject.found) {
    json["found"].push_back({{"case", oracle::ShortestLine(Case::Parse(one.case_line))},
                             {"where", one.where},
                             {"permitted", ToJson(one.permitted)},
                             {"ulps", ToJson(one.ulps)},
                             {"repeat", RepeatCommand(one.case_line, subject)}});
  }
  return json;
}

// A field of CSV, RFC 4180.
std::string Field(const std::string& text) {
  if (text.find_first_of(",\"\n") == text.npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

void PrintSteps(const SubjectProfile& subject, std::ostream& out) {
  if (!subject.steps) return;
  out << "  " << std::left << std::setw(14) << "step" << std::setw(18) << "rule" << std::setw(10)
      << "alone" << std::setw(10) << "without"
      << "adds\n";
  for (const oracle::StepCost& one : subject.steps->steps) {
    out << "  " << std::setw(14) << one.step << std::setw(18) << one.rule << std::setw(10)
        << one.only.p99 << std::setw(10) << one.all_but.p99 << one.added << "\n";
  }
  out << "  errors in ulps that 99 % do not exceed; all steps together " << subject.steps->total.p99
      << ", the remainder by interaction " << subject.steps->remainder << "\n";
}

}  // namespace

Json ToJson(const Profile& profile) {
  Json json = {{"version", 0},
               {"cases", profile.cases},
               {"by", profile.by},
               {"left_out", profile.left_out},
               {"histogram_limits", ToJson(HistogramLimits())},
               {"honest_shares", ToJson(HonestShares())},
               {"subjects", Json::array()},
               {"below", nullptr}};
  for (const SubjectProfile& subject : profile.subjects)
    json["subjects"].push_back(AsJson(subject));
  if (profile.below > 0) {
    json["below"] = {{"ulps", ToJson(profile.below)}, {"recipe", nullptr}};
    if (profile.cheapest) {
      json["below"]["recipe"] = profile.cheapest->recipe;
      json["below"]["largest"] = ToJson(profile.cheapest->largest);
      json["below"]["p99"] = ToJson(profile.cheapest->p99);
    }
  }
  return json;
}

ProfileTable TableOf(const SubjectProfile& subject, const std::string& by) {
  ProfileTable table{.axis = by == "step" ? by : subject.axis};
  const auto add = [&table](const std::string& name, const auto& rows, const auto& value_of) {
    auto& column = table.columns.emplace_back(name);
    for (const auto& row : rows) column.values.push_back(static_cast<double>(value_of(row)));
  };
  const auto add_errors = [&add](const std::string& name, const auto& rows, const auto& errors_of) {
    for (const auto& [number, member] : kNumbers)
      add(name + "_" + number, rows, [&](const auto& row) { return errors_of(row).*member; });
  };
  if (by != "step") {
    add("key", subject.groups, [](const GroupProfile& group) { return group.key; });
    add("elements", subject.groups, [](const GroupProfile& group) { return group.elements; });
    for (const ErrorUnit unit : kErrorUnits) {
      add_errors(std::string(NameOfUnit(unit)), subject.groups, [unit](const GroupProfile& group) {
        return group.errors[static_cast<size_t>(unit)];
      });
    }
    return table;
  }
  const auto steps = subject.steps ? subject.steps->steps : std::vector<oracle::StepCost>();
  for (const oracle::StepCost& one : steps) {
    table.steps.push_back(one.step);
    table.rules.push_back(one.rule);
  }
  add_errors("only", steps, [](const oracle::StepCost& one) { return one.only; });
  add_errors("all_but", steps, [](const oracle::StepCost& one) { return one.all_but; });
  add_errors("up_to", steps, [](const oracle::StepCost& one) { return one.up_to; });
  return table;
}

void PrintCsv(const Profile& profile, std::ostream& out) {
  const bool by_step = profile.by == "step";
  out << std::setprecision(17) << "subject,recipe,by" << (by_step ? ",key,rule" : "");
  for (const auto& column : TableOf(profile.subjects.front(), profile.by).columns)
    out << "," << column.name;
  out << "\n";
  for (const SubjectProfile& subject : profile.subjects) {
    const ProfileTable table = TableOf(subject, profile.by);
    for (size_t row = 0; row < table.columns.front().values.size(); ++row) {
      out << Field(Marked(subject.name)) << "," << Field(subject.recipe) << ","
          << Field(table.axis);
      if (by_step) out << "," << table.steps[row] << "," << table.rules[row];
      for (const auto& column : table.columns) out << "," << column.values[row];
      out << "\n";
    }
  }
}

void PrintText(const Profile& profile, std::ostream& out) {
  out << std::setprecision(3);
  for (const SubjectProfile& subject : profile.subjects) {
    for (const std::string& message : subject.not_answered) out << message << "\n";
    if (subject.elements == 0) {
      out << Marked(subject.name) << ", recipe " << subject.recipe << ": nothing was measured\n";
      continue;
    }
    const Distribution& ulps = subject.errors[0];
    out << Marked(subject.name) << ", recipe " << subject.recipe << ": "
        << CountText(subject.elements, "element") << ", error in ulps: median " << ulps.median
        << ", 99 % " << ulps.p99 << ", largest " << ulps.largest << ", bias " << ulps.bias
        << "; largest error / permitted "
        << subject.errors[static_cast<size_t>(ErrorUnit::kPermitted)].largest << "\n";
    PrintSteps(subject, out);
    for (const oracle::WorstCase& one : subject.found)
      out << "  worst " << one.permitted << " of permitted, " << one.ulps << " ulps at "
          << one.where << ": " << oracle::ShortestLine(Case::Parse(one.case_line)) << "\n";
  }
  if (profile.left_out > 0)
    out << "the budget left out " << CountText(profile.left_out, "element") << "\n";
  if (profile.below <= 0) return;
  if (!profile.cheapest) {
    out << "no recipe stays below " << profile.below
        << " ulps in 99 % of the elements: not even all steps in the widest format\n";
    return;
  }
  out << "cheapest recipe below " << profile.below
      << " ulps in 99 % of the elements: " << profile.cheapest->recipe << " ("
      << profile.cheapest->p99 << ", largest " << profile.cheapest->largest << ")\n";
}

}  // namespace sextant::tools
