#include "tools/report/tolerance_report.h"

#include <algorithm>
#include <sstream>

#include "reference/base/count_text.h"
#include "tools/report/json.h"
#include "tools/report/short_number.h"

namespace sextant::tools {
namespace {

using oracle::Tolerance;
using oracle::ToleranceGrade;
using Bug = ToleranceGrade::Bug;

std::string TextOf(const Tolerance& tolerance) {
  return "atol " + ShortNumber(tolerance.atol) + ", rtol " + ShortNumber(tolerance.rtol);
}

// "lets 2 of 41 known bugs pass: window_one_more, scale_of_head"
void AddBugs(const ToleranceGrade& grade, bool Bug::*passes, std::ostream& text) {
  const auto count = std::ranges::count(grade.bugs, true, passes);
  text << "    lets " << count << " of " << CountText(grade.bugs.size(), "known bug") << " pass";
  const char* separator = ": ";
  for (const Bug& bug : grade.bugs) {
    if (!(bug.*passes)) continue;
    text << separator << bug.name;
    separator = ", ";
  }
  text << "\n";
}

void AddRejected(const ToleranceGrade& grade, const Tolerance& tolerance, const std::string& recipe,
                 std::ostream& text) {
  if (grade.may_reject == 0) {
    text << "    rejects no right answer of the recipe " << recipe << ": ";
  } else {
    text << "    may reject right answers of the recipe " << recipe << " in " << grade.may_reject
         << " of " << CountText(grade.elements, "element");
    if (grade.has_likely && grade.likely_reject == 0) text << ", but not by likely errors";
    if (grade.has_likely && grade.likely_reject > 0)
      text << ", even by likely errors in " << grade.likely_reject;
    text << "; atol " << ShortNumber(grade.needed_atol) << " would not: ";
  }
  text << grade.worst.where << " is " << ShortNumber(grade.worst.expected)
       << ", and a right answer may be off by " << ShortNumber(grade.worst.permitted)
       << " (allowed " << ShortNumber(tolerance.At(grade.worst.expected)) << ")\n";
}

Json AsJson(const Tolerance& tolerance) {
  return {{"atol", ToJson(tolerance.atol)}, {"rtol", ToJson(tolerance.rtol)}};
}

}  // namespace

std::string TextOf(const ToleranceGrade& grade, const Tolerance& tolerance, const std::string& name,
                   const std::string& recipe) {
  std::ostringstream text;
  text << name << "\n";
  if (grade.sample) {
    text << "  by a part: " << grade.sample->elements << " of " << grade.sample->all_elements
         << " elements\n";
  }
  if (grade.unjudgeable > 0) {
    text << "  without " << CountText(grade.unjudgeable, "element")
         << " in which any answer of the right size is right\n";
  }
  if (grade.elements == 0) {
    text << "  no element has a value with which an answer could be compared\n";
    return text.str();
  }
  text << "  " << TextOf(tolerance) << ", beside exact values that are rounded to the output\n";
  AddRejected(grade, tolerance, recipe, text);
  AddBugs(grade, &Bug::passes, text);
  text << "  " << TextOf(grade.smallest) << ", the smallest that rejects no right answer"
       << (grade.sample ? " in this part" : "") << "\n";
  AddBugs(grade, &Bug::passes_smallest, text);
  text << "  the permitted error of each element rejects no right answer, and all of these bugs\n";
  if (grade.not_tried > 0) {
    text << "  " << CountText(grade.not_tried, "other bug")
         << " can only be tried on the whole case, which is too large\n";
  }
  return text.str();
}

Json ToJson(const ToleranceGrade& grade, const Tolerance& tolerance, const std::string& name,
            const std::string& recipe) {
  Json json = {{"version", 0},
               {"case", name},
               {"recipe", recipe},
               {"tolerance", AsJson(tolerance)},
               {"elements", grade.elements},
               {"unspecified", grade.unspecified},
               {"unjudgeable", grade.unjudgeable},
               {"is_a_part", grade.sample.has_value()},
               {"may_reject", grade.may_reject},
               {"likely_reject", grade.has_likely ? Json(grade.likely_reject) : Json()},
               {"needed_atol", ToJson(grade.needed_atol)},
               {"smallest", AsJson(grade.smallest)},
               {"worst",
                {{"where", grade.worst.where},
                 {"expected", ToJson(grade.worst.expected)},
                 {"permitted", ToJson(grade.worst.permitted)}}},
               {"bugs", Json::array()},
               {"bugs_not_tried", grade.not_tried},
               {"is_good", grade.IsGood()},
               {"text", TextOf(grade, tolerance, name, recipe)}};
  for (const Bug& bug : grade.bugs) {
    json["bugs"].push_back({{"name", bug.name},
                            {"why", bug.why},
                            {"passes", bug.passes},
                            {"passes_smallest", bug.passes_smallest}});
  }
  return json;
}

}  // namespace sextant::tools
