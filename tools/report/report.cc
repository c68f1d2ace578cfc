#include "tools/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <sstream>

#include "tools/report/json.h"
#include "tools/report/progress.h"

namespace sextant::tools {
namespace {

using oracle::Grade;
using oracle::TensorVerdict;
using oracle::Verdict;

constexpr std::string_view kStatusNames[] = {"conforms", "fails", "unverified", "unsupported",
                                             "could not run"};

std::string_view NameOf(Grade grade) { return oracle::kGradeNames[static_cast<size_t>(grade)]; }
std::string_view NameOf(Verdict::Status status) {
  return kStatusNames[static_cast<size_t>(status)];
}

std::string Number(double x) {
  if (std::isnan(x)) return "nan";  // whatever its sign
  char text[64];
  std::snprintf(text, sizeof text, "%.17g (%a)", x, x);
  return text;
}

std::string Short(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

// "y[0,1]: got 1 (0x1p+0), exact 2 (0x1p+1), off by 1, permitted 0.1"
std::string WorstOf(const TensorVerdict& t) {
  std::string text = t.worst.where;
  text += ": got ";
  text += Number(t.worst.got);
  text += ", exact ";
  text += Number(t.worst.expected);
  text += ", off by ";
  text += Short(t.worst.error);
  text += ", permitted ";
  text += Short(t.worst.permitted);
  if (t.unlikely > 0 && t.failed == 0) text += ", likely at most " + Short(t.worst.likely);
  return text;
}

std::string DetailsOf(const TensorVerdict& t) {
  std::string text = WorstOf(t) + "\n" + std::to_string(t.failed) + " of " +
                     std::to_string(t.judged) + " elements of " + t.name + " fail";
  if (t.grade != Grade::kUnlikely) return text;
  if (t.unlikely > 0) {
    text += "; " + std::to_string(t.unlikely) + " are off by more than independent roundings give";
  }
  if (t.bias_in_standard_errors != 0) {
    text += "; the mean error is " + Short(t.bias) + " of permitted, " +
            Short(t.bias_in_standard_errors) + " standard errors from 0";
    if (t.honest_bias > 0)
      text += "; honest implementations have " + Short(t.honest_bias) + " at most";
  }
  return text;
}

// How many of several failing cases each cause explains, the most first: "30 of 32 that fail: as if
// defect:rms_norm/mean_subtracted".
void PrintCauses(const Report& report) {
  std::map<std::string, size_t> failing, explained;
  for (const Verdict& v : report.verdicts) {
    if (v.status != Verdict::Status::kFails) continue;
    const std::string operation = v.case_line.substr(0, v.case_line.find(' '));
    ++failing[operation];
    for (const std::string& cause : v.causes)
      ++explained[operation + "/" + cause.substr(0, cause.find(" ("))];
  }
  std::vector<std::pair<std::string, size_t>> causes(explained.begin(), explained.end());
  std::ranges::stable_sort(causes, std::greater(), &std::pair<std::string, size_t>::second);
  for (const auto& [cause, count] : causes) {
    const size_t all = failing[cause.substr(0, cause.find('/'))];
    if (all > 1)
      std::cout << count << " of " << all << " that fail: as if defect:" << cause << "\n";
  }
}

// Quoted for a POSIX shell.
std::string Quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  text += "'";
  return text;
}

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
          {"honest_bias", ToJson(t.honest_bias)}};
}

// How many cases came to what; what fails strictly is no case that conforms.
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

std::string Details(const Verdict& verdict) {
  std::string text = verdict.message;
  const auto add = [&text](const std::string& line) {
    if (!text.empty()) text += "\n";
    text += line;
  };
  for (const TensorVerdict& t : verdict.tensors) {
    if (t.grade >= Grade::kUnlikely) add(DetailsOf(t));
  }
  for (const TensorVerdict& t : verdict.trace) {
    if (t.grade == Grade::kFails) add("from its own tensors before it, " + WorstOf(t));
  }
  for (const std::string& cause : verdict.causes) {
    if (!text.empty()) text += "\n";
    text += "as if: " + cause;
  }
  return text;
}

std::string RepeatCommand(const Report& report, const Verdict& verdict) {
  return "sextant check " + Quoted(verdict.case_line) + " --subject " + Quoted(report.subject) +
         " --recipe " + Quoted(report.recipe) + (report.strict ? " --strict" : "") +
         (report.timeout.empty() ? "" : " --timeout " + report.timeout);
}

bool Judges(const Verdict& verdict) {
  const auto is_judged = [](const TensorVerdict& t) { return t.judged > 0; };
  return std::ranges::any_of(verdict.tensors, is_judged) ||
         std::ranges::any_of(verdict.trace, is_judged);
}

bool Report::Fails(const Verdict& verdict) const {
  const bool answered = verdict.status == Verdict::Status::kConforms ||
                        verdict.status == Verdict::Status::kUnverified;
  return verdict.status == Verdict::Status::kFails ||
         (strict && answered && verdict.grade == Grade::kUnlikely);
}

ExitStatus Report::Status() const {
  const auto any = [this](Verdict::Status status) {
    return std::ranges::any_of(verdicts, [status](const Verdict& v) { return v.status == status; });
  };
  if (std::ranges::any_of(verdicts, [this](const Verdict& v) { return Fails(v); }))
    return kNonconforming;
  if (any(Verdict::Status::kCouldNotRun) || !parting_words.empty()) return kNotRun;
  if (any(Verdict::Status::kUnsupported) || any(Verdict::Status::kUnverified)) return kIncomplete;
  if (std::ranges::any_of(verdicts, Judges)) return kVerified;
  const auto is_empty = [](const Verdict& v) {
    return std::ranges::all_of(v.tensors, [](const TensorVerdict& t) { return t.elements == 0; });
  };
  return std::ranges::all_of(verdicts, is_empty) ? kNothing : kIncomplete;
}

void PrintVerdict(const Report& report, const Verdict& verdict) {
  const bool fails = report.Fails(verdict);
  const bool conforms = verdict.status == Verdict::Status::kConforms;
  if (conforms && verdict.grade < Grade::kUnlikely) return;
  const Colors colors = ColorsOfOutput();
  const std::string_view word = conforms ? NameOf(verdict.grade) : NameOf(verdict.status);
  std::string details = Details(verdict);
  for (size_t at = details.find('\n'); at != details.npos; at = details.find('\n', at + 3))
    details.replace(at, 1, "\n  ");
  std::cout << (fails ? colors.red + "FAILS" : colors.yellow + std::string(word)) << colors.plain
            << " " << verdict.case_line << "\n";
  if (!details.empty()) std::cout << "  " << details << "\n";
  std::cout << "  repeat: " << RepeatCommand(report, verdict) << "\n";
}

void PrintSummary(const Report& report) {
  if (!report.parting_words.empty()) {
    std::cout << "after the last case, " << report.subject
              << " misbehaved: " << report.parting_words << "\n";
  }
  PrintCauses(report);
  std::map<std::string_view, size_t> counts;
  size_t elements = 0, judged = 0, vacuous = 0, unspecified = 0, unjudgeable = 0;
  size_t enclosed = 0, failing = 0, not_run = 0, open_rows = 0;
  for (const Verdict& v : report.verdicts) {
    failing += report.Fails(v);
    not_run += v.status == Verdict::Status::kCouldNotRun;
    open_rows += v.open_rows;
    ++counts[report.Fails(v)                          ? NameOf(Verdict::Status::kFails)
             : v.status == Verdict::Status::kConforms ? NameOf(v.grade)
                                                      : NameOf(v.status)];
    for (const TensorVerdict& t : v.tensors) {
      elements += t.elements;
      judged += t.judged;
      vacuous += t.vacuous;
      unspecified += t.unspecified;
      unjudgeable += t.unjudgeable;
      enclosed += t.enclosed;
    }
  }
  const Colors colors = ColorsOfOutput();
  std::cout << (failing > 0 ? colors.red : colors.green) << report.subject << colors.plain
            << " by recipe " << report.recipe << ": " << report.verdicts.size() << " cases";
  for (const auto& [name, count] : counts) std::cout << ", " << count << " " << name;
  std::cout << "; " << judged << " of " << elements << " elements judged";
  if (vacuous > 0) std::cout << ", " << vacuous << " vacuous";
  if (unspecified > 0) std::cout << ", " << unspecified << " unspecified";
  if (unjudgeable > 0) std::cout << ", " << unjudgeable << " unjudgeable";
  if (enclosed > 0) std::cout << ", " << enclosed << " only enclosed";
  if (open_rows > 0) std::cout << ", " << open_rows << " rows cannot fail";
  if (vacuous + unjudgeable > 0) std::cout << "; what is vacuous or unjudgeable cannot fail";
  std::cout << "\n";
  if (failing > 0 && not_run > 0) {
    std::cout << not_run << " of " << report.verdicts.size()
              << " cases could not be run; the exit status is " << kNonconforming << " and not "
              << kNotRun << " because another case fails\n";
  }
}

void WriteJson(const Report& report, OutputFile& file) {
  Json json = {{"subject", report.subject},  {"recipe", report.recipe},
               {"strict", report.strict},    {"exit_status", static_cast<int>(report.Status())},
               {"counts", CountsOf(report)}, {"parting_words", report.parting_words},
               {"cases", Json::array()}};
  for (const Verdict& v : report.verdicts) {
    Json one = {{"case", v.case_line},      {"status", NameOf(v.status)}, {"grade", nullptr},
                {"fails", report.Fails(v)}, {"message", v.message},       {"causes", v.causes},
                {"open_rows", v.open_rows}, {"tensors", Json::array()}};
    if (!v.tensors.empty()) one["grade"] = NameOf(v.grade);  // of what was judged
    for (const TensorVerdict& t : v.tensors) one["tensors"].push_back(TensorToJson(t));
    if (!v.trace.empty()) one["trace"] = Json::array();
    for (const TensorVerdict& t : v.trace) one["trace"].push_back(TensorToJson(t));
    json["cases"].push_back(std::move(one));
  }
  WriteJsonFile(json, file);
}

}  // namespace sextant::tools
