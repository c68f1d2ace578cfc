#include "tools/report/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "reference/base/count_text.h"
#include "tools/api/shell_quoted.h"
#include "tools/report/short_number.h"

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

// "y[0,1]: got 1 (0x1p+0), exact 2 (0x1p+1), off by 1, permitted 0.1". Of a code: the codes that
// are right, too.
std::string WorstOf(const TensorVerdict& t) {
  std::string text = t.worst.where;
  if (t.worst.is_index && t.failed > 0) {
    text += ": got " + PrintValue(t.worst.got);
    if (t.worst.error > static_cast<double>(kLargestInteger / 2))
      return text + ", which none may be: no index, the same again, or not permitted beside others";
    return text + ", left out is one that is better by " + ShortNumber(t.worst.error) +
           ", permitted " + ShortNumber(t.worst.permitted);
  }
  text += ": got ";
  text += Number(t.worst.got);
  text += ", exact ";
  text += std::isnan(t.worst.expected) ? "NaN (specified)" : Number(t.worst.expected);
  if (t.worst.admissible) {
    const auto [least, most] = *t.worst.admissible;
    text += ", admissible " + Number(least);
    if (least != most) text += " to " + Number(most) + ": the recipe permits both sides of a tie";
    return text;
  }
  text += ", off by ";
  text += ShortNumber(t.worst.error);
  text += ", permitted ";
  text += ShortNumber(t.worst.permitted);
  if (t.worst.got == 0 && t.worst.expected == 0 && t.failed > 0)
    text += "; the sign of this zero is specified";
  if (t.unlikely > 0 && t.failed == 0) text += ", likely at most " + ShortNumber(t.worst.likely);
  return text;
}

// An axis that says nothing new: everything fails on it, or it has the ranges of the axis from
// which it derives.
bool IsRedundant(const TensorVerdict& t, const oracle::FailingIndices& axis) {
  if (axis.elsewhere) return false;
  const auto same = [&axis](const oracle::FailingIndices& other) {
    return other.axis == axis.derived_from && other.ranges == axis.ranges;
  };
  return axis.everywhere || std::ranges::any_of(t.failing, same);
}

// "; all at S=3..5 D=0,4 position=32768..32770": the axes on which only some values fail.
std::string FailingText(const TensorVerdict& t) {
  constexpr size_t kMostRanges = 4;
  std::string text;
  for (const oracle::FailingIndices& axis : t.failing) {
    if (IsRedundant(t, axis)) continue;
    text += (text.empty() ? "; all at " : " ") + axis.axis + "=";
    for (size_t i = 0; i < std::min(axis.ranges.size(), kMostRanges); ++i) {
      const auto [first, last] = axis.ranges[i];
      text += (i > 0 ? "," : "") + std::to_string(first);
      if (last > first) text += ".." + std::to_string(last);
    }
    if (axis.ranges.size() > kMostRanges) text += ",...";
    if (axis.elsewhere) text += axis.ranges.empty() ? "none" : ",none";
  }
  return text;
}

std::string DetailsOf(const TensorVerdict& t) {
  std::string text = WorstOf(t) + "\n" + std::to_string(t.failed) + " of " +
                     std::to_string(t.judged) + " elements of " + t.name + " fail" + FailingText(t);
  if (t.grade != Grade::kUnlikely) return text;
  if (t.unlikely > 0) {
    text +=
        "; " + std::to_string(t.unlikely) + " have larger errors than independent roundings give";
  }
  if (t.bias_in_standard_errors != 0) {
    text += "; the mean error is " + ShortNumber(t.bias) + " of permitted, " +
            ShortNumber(t.bias_in_standard_errors) + " standard errors from 0";
    if (t.correct_bias_bound > 0)
      text += "; a correct implementation has at most " + ShortNumber(t.correct_bias_bound);
  }
  return text;
}

void AddLine(std::string& text, const std::string& line) {
  if (!text.empty()) text += "\n";
  text += line;
}

// A budget of so many elements takes the same part.
std::string SampleOptions(const Verdict& verdict) {
  if (!verdict.sample) return "";
  return " --budget-elements " + std::to_string(verdict.sample->elements) + " --seed " +
         std::to_string(verdict.sample->seed);
}

}  // namespace

std::string_view NameOf(Grade grade) { return oracle::kGradeNames[static_cast<size_t>(grade)]; }

std::string_view NameOf(Verdict::Status status) { return NameOf(OutcomeOf(status)); }

std::string ElementCounts(const std::vector<Verdict>& verdicts) {
  size_t elements = 0, judged = 0, vacuous = 0, unspecified = 0, unjudgeable = 0, enclosed = 0;
  size_t loose = 0, open_rows = 0, left_out = 0;
  for (const Verdict& v : verdicts) {
    open_rows += v.open_row_count;
    for (const TensorVerdict& t : v.tensors) {
      elements += t.elements;
      judged += t.judged;
      vacuous += t.vacuous;
      unspecified += t.unspecified;
      unjudgeable += t.unjudgeable;
      enclosed += t.enclosed;
      loose += t.loose;
      left_out += t.left_out;
    }
  }
  std::string text = std::to_string(judged) + " of " + CountText(elements, "element") + " judged";
  const auto add = [&text](size_t count, const char* what) {
    if (count > 0) text += ", " + std::to_string(count) + " " + what;
  };
  add(vacuous, "vacuous");
  add(unspecified, "unspecified");
  add(unjudgeable, "unjudgeable");
  add(enclosed, "only enclosed");
  add(loose, "of them too loosely");
  add(left_out, "left out");
  if (open_rows > 0) text += ", " + CountText(open_rows, "row") + " cannot fail";
  if (vacuous + unjudgeable > 0) text += "; vacuous and unjudgeable elements cannot fail";
  return text;
}

std::string FailureLines(const Verdict& verdict) {
  std::string text = verdict.message;
  for (const TensorVerdict& t : verdict.tensors) {
    if (t.grade >= Grade::kUnlikely) AddLine(text, DetailsOf(t));
  }
  for (const TensorVerdict& t : verdict.trace) {
    if (t.grade == Grade::kFails)
      AddLine(text, "computed from the subject's own intermediates, " + WorstOf(t));
  }
  return text;
}

std::string SampleLine(const Verdict& verdict) {
  if (!verdict.sample) return "";
  const Sample& s = *verdict.sample;
  return "judged in part: " + std::to_string(s.elements) + " of " +
         CountText(s.all_elements, "element") + ", " + std::to_string(s.slices) + " of " +
         CountText(s.all_slices, "slice") + ", chosen with seed " + std::to_string(s.seed);
}

SampledCases::SampledCases(const std::vector<Verdict>& verdicts) {
  for (const Verdict& v : verdicts) {
    if (!v.sample) continue;
    ++cases;
    elements += v.sample->elements;
    all_elements += v.sample->all_elements;
  }
}

std::string FreshLine(const Report& report) {
  if (!report.fresh) return "";
  size_t cases = 0, failing = 0, open = 0;
  for (const Verdict& v : report.verdicts) {
    if (!report.CommittedOf(v)) continue;
    ++cases;
    failing += report.IsFailure(v);
    open += report.Assess(v).result == Result::kOpenByInputs;
  }
  const auto& [seed, committed, adversarial, questions] = *report.fresh;
  std::string text = std::string("with fresh inputs (--") +
                     (adversarial ? "adversarial" : "fresh") + "=" + std::to_string(seed) +
                     "): " + CountText(cases, "case");
  if (adversarial) text += ", " + CountText(questions, "question");
  if (failing > 0) text += ", " + std::to_string(failing) + " of them with a failure";
  if (open > 0) text += ", " + std::to_string(open) + " of them unverified, which is accepted";
  return text;
}

std::string WithLine(const Report& report) {
  if (report.with.empty()) return "";
  const auto& [not_applicable, equal] = report.replaced;
  std::string text = "with " + report.with + ": " + CountText(not_applicable.size(), "case") +
                     " not applicable, " + CountText(equal, "case") + " equal to another";
  const auto open = std::ranges::count_if(report.verdicts, [&](const Verdict& v) {
    return report.Assess(v).result == Result::kOpenByInputs;
  });
  if (open > 0) text += ", " + std::to_string(open) + " unverified, which is accepted";
  if (!not_applicable.empty())
    text += "; the first not applicable: " + not_applicable.front().line + ": " +
            not_applicable.front().why;
  return text;
}

std::string OperationOf(const Verdict& verdict) {
  return verdict.case_line.substr(0, verdict.case_line.find(' '));
}

size_t MostFailingRows(const oracle::TensorVerdict& tensor) {
  size_t rows = 1, of_last = 1;
  for (const oracle::FailingIndices& axis : tensor.failing) {
    if (!axis.derived_from.empty()) continue;
    rows *= of_last;
    of_last = 0;
    for (const auto& [first, last] : axis.ranges) of_last += static_cast<size_t>(last - first + 1);
  }
  return rows;
}

double BitsOf(const Verdict& verdict) {
  constexpr double kMostBits = 16;  // further elements fail for the same reason
  constexpr double kBitsOfRow = 4;  // a number of a row decides all its elements
  size_t failed = 0, rows = 0;
  for (const auto* tensors : {&verdict.tensors, &verdict.trace}) {
    for (const TensorVerdict& tensor : *tensors) {
      failed += tensor.failed;
      rows += tensor.failed > 0 ? MostFailingRows(tensor) : 0;
    }
  }
  return std::min({kMostBits, kBitsOfRow * static_cast<double>(rows),
                   std::log2(1 + static_cast<double>(failed))});
}

// The elements of one row in 16 bits are few digits: many formulas of a row give them. And in few
// elements many deviations are the same: what is measured there may be another one, and two at once
// even more so.
bool IsCertain(const Verdict& verdict, const oracle::Cause& cause) {
  constexpr double kBitsOfOne = 4;
  const double count = cause.is_beside || cause.name.find('+') != std::string::npos ? 2 : 1;
  if ((cause.is_measured || count > 1) && BitsOf(verdict) < count * kBitsOfOne) return false;
  size_t rows = 0;
  for (const auto* tensors : {&verdict.tensors, &verdict.trace})
    for (const oracle::TensorVerdict& t : *tensors) rows += t.failed > 0 ? MostFailingRows(t) : 0;
  const std::string line = verdict.case_line + " ";
  const bool has_16_bits =
      line.find(" dtype=bf16 ") != line.npos || line.find(" dtype=f16 ") != line.npos;
  return rows != 1 || !has_16_bits;
}

std::string CauseLines(const Verdict& verdict) {
  constexpr size_t kMostApart = 3;  // more are a class, of which only the first is explained
  const auto& causes = verdict.causes;
  const size_t apart = causes.size() <= kMostApart ? causes.size() : 1;
  std::string text;
  for (size_t i = 0; i < apart; ++i)
    AddLine(text, (IsCertain(verdict, causes[i]) ? "likely cause: " : "possible cause: ") +
                      causes[i].name + " (" + causes[i].why + ")");
  if (apart == causes.size()) return text;
  std::vector<std::string> others;  // that the first sentence does not name
  for (size_t i = apart; i < causes.size(); ++i)
    if (causes[0].why.find(causes[i].name) == std::string::npos) others.push_back(causes[i].name);
  std::string names;
  for (size_t i = 0; i < others.size(); ++i)
    names += (i == 0 ? "" : i + 1 < others.size() ? ", " : " or ") + others[i];
  if (!others.empty())
    AddLine(text, "or one of " + CountText(others.size(), "other cause") +
                      " that explain it too: " + names);
  return text;
}

std::string RecipeLine(const Verdict& verdict) {
  const auto& [texts, width, have_other_errors, sample] = verdict.other_recipes;
  std::string text;
  for (const std::string& recipe : texts) text += (text.empty() ? "`" : " or `") + recipe + "`";
  if (text.empty()) return "";
  text = "conforms by " + text;
  const std::string much = width > 0 ? ShortNumber(width) + " times as much" : "more";
  text += have_other_errors
              ? ", but only because it permits " + much + ": its own errors are others"
              : ", which permits " + much + ", if that says how it is computed";
  if (sample)
    text += "; " + std::to_string(sample->elements) + " of " +
            CountText(sample->all_elements, "element") + " judged";
  return text;
}

std::string Details(const Verdict& verdict) {
  std::string text = FailureLines(verdict);
  for (const std::string& lines : {CauseLines(verdict), RecipeLine(verdict), SampleLine(verdict)}) {
    if (!lines.empty()) AddLine(text, lines);
  }
  return text;
}

std::string RepeatCommand(const Report& report, const Verdict& verdict) {
  const bool adversarial = report.fresh && report.fresh->adversarial;
  const std::string* const committed = report.CommittedOf(verdict);
  return "sextant check " +
         PrintableWord(adversarial && committed ? *committed : verdict.case_line) +
         (adversarial ? " --adversarial=" + std::to_string(report.fresh->seed) : "") +
         " --subject " + PrintableWord(report.subject) + " --recipe " +
         PrintableWord(report.recipe) + (report.strict ? " --strict" : "") +
         (report.timeout.empty() ? "" : " --timeout " + report.timeout) +
         (adversarial ? "" : SampleOptions(verdict)) +
         (verdict.sample && report.sampled_is_enough ? " --sampled-is-enough" : "");
}

}  // namespace sextant::tools
