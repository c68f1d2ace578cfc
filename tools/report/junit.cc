#include "tools/report/junit.h"

#include <algorithm>
#include <map>
#include <pugixml.hpp>

namespace sextant::tools {
namespace {

using oracle::Verdict;

// Replaces control characters, which XML 1.0 forbids except tab, newline and carriage return.
std::string ForXml(std::string text) {
  std::ranges::replace_if(
      text, [](unsigned char c) { return c < 0x20 && c != '\n' && c != '\t'; }, '?');
  return text;
}

// The test cases of one run.
class Suite {
 public:
  explicit Suite(const std::string& name)
      : suite_(document_.append_child("testsuites").append_child("testsuite")) {
    suite_.append_attribute("name") = ForXml(name).c_str();
  }

  // `kind`: "failure", "error" or "skipped"; null if the test passed. The first line of the details
  // becomes the message.
  void Add(const std::string& group, const std::string& name, const char* kind,
           const std::string& details) {
    pugi::xml_node test = suite_.append_child("testcase");
    test.append_attribute("classname") = ForXml(group).c_str();
    test.append_attribute("name") = ForXml(name).c_str();
    ++tests_;
    if (!kind) return;
    ++counts_[kind];
    pugi::xml_node node = test.append_child(kind);
    const std::string text = ForXml(details);
    node.append_attribute("message") = text.substr(0, text.find('\n')).c_str();
    node.text() = text.c_str();
  }

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

const char* KindOf(const Report& report, const Verdict& verdict) {
  if (report.Fails(verdict)) return "failure";
  if (verdict.status == Verdict::Status::kCouldNotRun) return "error";
  return verdict.status == Verdict::Status::kConforms ? nullptr : "skipped";
}

}  // namespace

void WriteJunit(const Report& report, OutputFile& file) {
  Suite suite(report.subject);
  const bool none_is_judged = std::ranges::none_of(report.verdicts, HasJudgedElement);
  for (const Verdict& v : report.verdicts) {
    const char* kind = KindOf(report, v);
    std::string details = Details(v);
    if (!kind && none_is_judged) {
      kind = "skipped";
      details = "the case has no element to judge";
    }
    suite.Add(v.case_line.substr(0, v.case_line.find(' ')), v.case_line, kind,
              details + "\nrepeat: " + RepeatCommand(report, v));
  }
  if (!report.after_last_answer.empty())
    suite.Add("subject", "after the last case", "error", report.after_last_answer);
  suite.Write(file);
}

}  // namespace sextant::tools
