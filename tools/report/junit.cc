#include "tools/report/junit.h"

#include <algorithm>
#include <map>
#include <pugixml.hpp>

#include "reference/base/printable.h"
#include "tools/report/run_causes.h"

namespace sextant::tools {
namespace {

using oracle::Verdict;

// The test cases of one run.
class Suite {
 public:
  explicit Suite(const std::string& name)
      : suite_(document_.append_child("testsuites").append_child("testsuite")) {
    suite_.append_attribute("name") = Printable(name).c_str();
  }

  // Before all test cases.
  void AddProperty(const std::string& name, const std::string& value) {
    pugi::xml_node property = suite_.append_child("properties").append_child("property");
    property.append_attribute("name") = name.c_str();
    property.append_attribute("value") = value.c_str();
  }

  // `kind`: "failure", "error" or "skipped"; null if the test passed. The first line of the details
  // becomes the message. Details of a test that passed are its output.
  void Add(const std::string& group, const std::string& name, const char* kind,
           const std::string& details) {
    pugi::xml_node test = suite_.append_child("testcase");
    test.append_attribute("classname") = Printable(group).c_str();
    test.append_attribute("name") = Printable(name).c_str();
    ++tests_;
    if (!kind && !details.empty())
      test.append_child("system-out").text() = Printable(details).c_str();
    if (!kind) return;
    ++counts_[kind];
    pugi::xml_node node = test.append_child(kind);
    const std::string text = Printable(details);
    node.append_attribute("message") = text.substr(0, text.find('\n')).c_str();
    node.text() = text.c_str();
  }

  bool IsRed() { return counts_["failure"] + counts_["error"] > 0; }

  void Write(OutputFile& file) {
    suite_.append_attribute("tests") = tests_;
    suite_.append_attribute("failures") = counts_["failure"];
    suite_.append_attribute("errors") = counts_["error"];
    suite_.append_attribute("skipped") = counts_["skipped"];
    file.Write([this](std::ostream& out) { document_.save(out, " "); });
  }

 private:
  pugi::xml_document document_;
  pugi::xml_node suite_;
  size_t tests_ = 0;
  std::map<std::string, size_t> counts_;
};

// The element of a case that does not pass and its text; no element if the case passes.
struct ResultElement {
  const char* kind = nullptr;  // "failure", "error", "skipped"
  std::string details{};
};

ResultElement ElementFor(const Report& report, const Verdict& verdict, bool none_is_judged) {
  const Assessment assessment = report.Assess(verdict);
  const std::string details = Details(verdict);
  switch (assessment.result) {
    case Result::kPasses:
      if (none_is_judged) return {"skipped", "the case has no element to judge"};
      return {nullptr, SampleLine(verdict)};
    case Result::kAsExpected:
      return {"skipped", "as expected: " + assessment.expected->reason + "\n" + details};
    case Result::kUnexpected:
      return {"failure",
              assessment.expected->where + ": " + assessment.contradiction + "\n" + details};
    case Result::kFails:
      return {"failure", details};
    case Result::kCouldNotRun:
      return {"error", details};
    default:
      return {"skipped", details};
  }
}

}  // namespace

void WriteJunit(const Report& report, OutputFile& file) {
  Suite suite(report.subject);
  if (report.fresh) suite.AddProperty("fresh", std::to_string(report.fresh->seed));
  const bool none_is_judged = std::ranges::none_of(report.verdicts, HasJudgedElement);
  for (const Verdict& v : VerdictsOf(report)) {
    const auto [kind, details] = ElementFor(report, v, none_is_judged);
    const std::string* const committed = report.CommittedOf(v);
    // Of one name in each run, whatever the seed.
    const std::string name = committed ? *committed + ", with fresh inputs" : v.case_line;
    suite.Add(v.case_line.substr(0, v.case_line.find(' ')), name, kind,
              !kind && details.empty() ? "" : details + "\nrepeat: " + RepeatCommand(report, v));
  }
  for (const auto& [line, why] : report.replaced.not_applicable)
    suite.Add(line.substr(0, line.find(' ')), line, "skipped", "not applicable: " + why);
  if (!report.not_started.empty())
    suite.Add("subject", "start", "error", kNotStarted + report.not_started);
  if (!report.after_last_answer.empty())
    suite.Add("subject", "after the last case", "error", report.after_last_answer);
  for (const std::string& message : report.stale_expectations)
    suite.Add("expectations", message.substr(0, message.find(": ")), "failure", message);
  if (const std::string why = report.WhyNotVerified(); !why.empty() && !suite.IsRed())
    suite.Add("sextant", "exit status " + std::to_string(report.Status()), "error", why);
  suite.Write(file);
}

}  // namespace sextant::tools
