#include "tools/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sextant::tools {
namespace {

using oracle::Grade;
using oracle::TensorVerdict;
using oracle::Verdict;

std::string Number(double x) {
  if (std::isnan(x)) return "nan";  // not "-nan"
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
    text +=
        "; " + std::to_string(t.unlikely) + " have larger errors than independent roundings give";
  }
  if (t.bias_in_standard_errors != 0) {
    text += "; the mean error is " + Short(t.bias) + " of permitted, " +
            Short(t.bias_in_standard_errors) + " standard errors from 0";
    if (t.correct_bias_bound > 0)
      text += "; a correct implementation has at most " + Short(t.correct_bias_bound);
  }
  return text;
}

// Quoted for a POSIX shell.
std::string ShellQuoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) {
    text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  text += "'";
  return text;
}

}  // namespace

std::string_view NameOf(Grade grade) { return oracle::kGradeNames[static_cast<size_t>(grade)]; }

std::string_view NameOf(Verdict::Status status) {
  constexpr std::string_view kNames[] = {"conforms", "fails", "unverified", "unsupported",
                                         "could not run"};
  return kNames[static_cast<size_t>(status)];
}

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
    if (t.grade == Grade::kFails)
      add("computed from the subject's own intermediates, " + WorstOf(t));
  }
  for (const oracle::Cause& cause : verdict.causes)
    add("likely cause: " + cause.name + " (" + cause.why + ")");
  return text;
}

std::string RepeatCommand(const Report& report, const Verdict& verdict) {
  return "sextant check " + ShellQuoted(verdict.case_line) + " --subject " +
         ShellQuoted(report.subject) + " --recipe " + ShellQuoted(report.recipe) +
         (report.strict ? " --strict" : "") +
         (report.timeout.empty() ? "" : " --timeout " + report.timeout);
}

bool HasJudgedElement(const Verdict& verdict) {
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
  if (any(Verdict::Status::kCouldNotRun) || !after_last_answer.empty()) return kNotRun;
  if (any(Verdict::Status::kUnsupported) || any(Verdict::Status::kUnverified)) return kIncomplete;
  if (std::ranges::any_of(verdicts, HasJudgedElement)) return kVerified;
  const auto is_empty = [](const Verdict& v) {
    return std::ranges::all_of(v.tensors, [](const TensorVerdict& t) { return t.elements == 0; });
  };
  return std::ranges::all_of(verdicts, is_empty) ? kNothing : kIncomplete;
}

}  // namespace sextant::tools
