// Known results of cases, read from a TOML file. A case that has exactly its expected result is no
// error; every other difference is one. tools/report/README.md describes the file.
//
//   [[expect]]
//   cases    = "rope *dtype=bf16*"   # pattern of the canonical case line
//   outcome  = "fails"               # or may = "fail": each case that does not is as without entry
//   outputs  = ["y"]                 # only these may fail
//   position = [32768]               # only positions from 32768 on may fail; [a, b]: from a to b
//   cause    = "angle=bf16"
//   reason   = "the angle is kept in bf16"
//   link     = "https://example.org/issues/7"
//   until    = 2027-06-30            # the last day (UTC) on which this entry counts
//
// The first entry that matches a case decides. Before a general entry, one with the outcome
// "conforms" exempts some of its cases.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/judge/judge.h"

namespace sextant::tools {

// The result of a case in one word, the same in every report and in files of expectations.
enum class Outcome { kConforms, kUnlikely, kFails, kUnverified, kUnsupported, kCouldNotRun };
inline constexpr std::array<std::string_view, 6> kOutcomeNames = {
    "conforms", "unlikely", "fails", "unverified", "unsupported", "could_not_run"};
constexpr auto NamesOf(Outcome) { return kOutcomeNames; }
std::string_view NameOf(Outcome outcome);
Outcome OutcomeOf(oracle::Verdict::Status status);
// `strict`: the grade `unlikely` fails, so that it counts also if the case is unverified.
Outcome OutcomeOf(const oracle::Verdict& verdict, bool strict);

// The values of an axis (oracle/judge/failing_indices.h) at which elements may fail.
struct AxisRange {
  std::string axis;
  int64_t first, last;
};

struct Expectation {
  std::string where;  // "known.toml:3"
  std::string cases;
  Outcome outcome = Outcome::kFails;
  bool may = false;                    // some cases fail, the others are as if they had no entry
  std::vector<std::string> outputs{};  // empty: all
  std::vector<AxisRange> ranges{};     // an output without that axis may fail anywhere
  std::string cause{};                 // empty: any cause, or none
  std::string reason, link{};
  std::string until{};   // "2027-06-30"; empty: no end
  bool expired = false;  // then the entry decides no case
};

// What a new entry has as its reason until a person writes one.
inline constexpr std::string_view kNoReasonYet = "...";

class Expectations {
 public:
  Expectations() = default;  // nothing is expected
  // `path` is for messages. Throws Error that names file and line.
  static Expectations Parse(std::string_view text, const std::string& path,
                            std::chrono::sys_days today);
  static Expectations Read(const std::string& path);  // today: the date in UTC

  const std::vector<Expectation>& entries() const { return entries_; }
  // The first entry that matches the case and has not expired; null if there is none.
  const Expectation* For(const std::string& case_line) const;
  // The same for a case with this outcome: null also if its entry says only what may fail.
  const Expectation* For(const std::string& case_line, Outcome outcome) const;
  // Throws Error if the entry of this case names an output or an axis that the operation lacks.
  void RequireNames(const Case& c) const;
  // Entries that have expired, and entries that decide none of these cases: one message each.
  std::vector<std::string> StaleEntries(const std::vector<std::string>& case_lines) const;

 private:
  std::vector<Expectation> entries_;
};

// How the result differs from the entry of its case; empty if it is as expected. Without a verdict
// only the outcomes are compared.
std::string Contradiction(const Expectation& expected, Outcome outcome);
std::string Contradiction(const Expectation& expected, const oracle::Verdict& verdict, bool strict);

// The text of a file that expects these verdicts; conforming cases have no entry. Failures of an
// operation, or of an operation and dtype, that have a cause in common are one entry with may =
// "fail", after those of other cases. The reasons are kNoReasonYet.
std::string ExpectationsOf(const std::vector<oracle::Verdict>& verdicts, bool strict);

}  // namespace sextant::tools
