// The result of one run of `check`: its verdicts and exit status. It is printed as text
// (report_text.h), JSON (report_json.h), JUnit XML (junit.h) and Markdown (markdown.h).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oracle/judge/judge.h"
#include "tools/api/exit_status.h"
#include "tools/api/expectations.h"
#include "tools/api/fresh_cases.h"
#include "tools/api/judgement.h"
#include "tools/api/selection.h"
#include "tools/api/shard.h"

namespace sextant::tools {

// How a case counts for the exit status.
enum class Result {
  kPasses,        // also if it is expected to conform
  kAsExpected,    // it does not conform, exactly as its expectation says
  kUnexpected,    // it has an expectation and another result
  kFails,         // no expectation
  kCouldNotRun,   // no expectation
  kUnsupported,   // no expectation
  kUnverified,    // no expectation
  kOpenByInputs,  // as kUnverified: inputs that are fresh, or of other words, have a NaN or an
                  // infinity
  kInPart         // passes, but only a part of the case was judged
};
struct Assessment {
  Result result;
  const Expectation* expected = nullptr;  // of the case; null: none
  std::string contradiction{};            // for kUnexpected: what is not as expected
};

// The cases of a run of which this is one of several shares, for whoever merges their reports.
struct JudgedShare {
  Shard shard;
  size_t all_cases = 0;             // of all shares
  std::string digest{};             // SHA-256 of their lines, in their order
  std::vector<size_t> positions{};  // among them, of the cases of this share
};

// The verdicts of one run, in the order of the cases.
struct Report {
  std::string subject, recipe;  // no recipe: neither the call nor a subject that started said one
  bool strict = false;          // the grade `unlikely` and loose elements count as failures
  std::string timeout{};        // seconds per case; empty for the default
  std::string limits{};         // of a third-party subject (oracle/subject/limits.h)
  std::vector<oracle::Verdict> verdicts{};
  std::string not_started{};        // why the subject could not be started; no case was judged
  std::string after_last_answer{};  // how the subject broke the protocol at its end; empty if not
  bool supported_only = false;      // unsupported cases are no reason for kIncomplete
  size_t not_reached = 0;           // cases that were not judged, because the run stopped before
  double budget_seconds = 0;        // for judging all cases; 0: no limit
  Budget budget{};                  // for each case
  bool sampled_is_enough = false;   // cases of which only a part was judged may pass
  std::optional<JudgedShare> shard{};
  bool open_rows = false;         // rows in which no element could have failed are accepted
  std::string engine = "ladder";  // of the proofs
  std::optional<FreshCases> fresh{};
  std::string with{};  // words that replaced those of the cases
  Replaced replaced{};
  std::vector<std::string> real_cases{};  // files with the shapes of real kernels, not judged here
  Expectations expectations{};
  std::vector<std::string> stale_expectations{};  // messages
  // Known defects that failing cases name: how many conforming cases would fail by them
  // (oracle/catalog/refuting_cases.h). By "rope/position_zero".
  std::map<std::string, size_t> refuting{};

  // The case of which it has fresh inputs; null if its inputs are its own.
  const std::string* CommittedOf(const oracle::Verdict& verdict) const;
  // The answer of the case does not conform, whatever is expected.
  bool Fails(const oracle::Verdict& verdict) const;
  Assessment Assess(const oracle::Verdict& verdict) const;
  // The case fails, could not run, or has another result than expected.
  bool IsFailure(const oracle::Verdict& verdict) const;
  // Every report agrees with this status.
  ExitStatus Status() const;
  // Why the status is not 0; empty if it is 0.
  std::string WhyNotVerified() const;
  // Only the case itself can say why it fails.
  bool HasOneCase() const { return verdicts.size() + not_reached == 1; }
};

// Before Report::not_started.
inline constexpr char kNotStarted[] = "the subject could not be run: ";

// A run of which the judgement is the only verdict.
Report ReportOf(const Judgement& judgement);

// The first word of its case line.
std::string OperationOf(const oracle::Verdict& verdict);

// At most so many rows, along the last axis, have failing elements.
size_t MostFailingRows(const oracle::TensorVerdict& tensor);

// True if at least one element of the case was judged, so that it could have failed.
bool HasJudgedElement(const oracle::Verdict& verdict);

std::string_view NameOf(oracle::Grade grade);
std::string_view NameOf(oracle::Verdict::Status status);
// "as_expected", "unexpected", or the name of the case's own outcome or, if it conforms, grade.
std::string_view NameOf(const Assessment& assessment, const oracle::Verdict& verdict, bool strict);

// "80 of 80 elements judged", and the numbers of elements that could not fail.
std::string ElementCounts(const std::vector<oracle::Verdict>& verdicts);

// "judged in part: 128 of 4096 elements, 16 of 512 slices, chosen with seed 0"; empty if the whole
// case was judged.
std::string SampleLine(const oracle::Verdict& verdict);
// The number of such cases and of their elements; all 0 if there are none.
struct SampledCases {
  explicit SampledCases(const std::vector<oracle::Verdict>& verdicts);
  size_t cases = 0, elements = 0, all_elements = 0;
};

// "with fresh inputs (--fresh=7): 2 cases, 1 of them with a failure"; empty without --fresh.
std::string FreshLine(const Report& report);

// "with D=64: 2 cases not applicable, 1 case equal to another; the first not applicable: LINE:
// why"; empty without --with.
std::string WithLine(const Report& report);

// What the failing elements of a case tell about its cause, in bits: as many as the logarithm of
// their number, 16 at most, and 4 for each row.
double BitsOf(const oracle::Verdict& verdict);

// Whether the cause is likely, and not only possible: few elements tell little.
bool IsCertain(const oracle::Verdict& verdict, const oracle::Cause& cause);

// Messages and worst elements of a case, its likely causes, and other recipes by which it conforms:
// lines without a newline at the end; empty if there are none.
std::string FailureLines(const oracle::Verdict& verdict);
std::string CauseLines(const oracle::Verdict& verdict);
std::string RecipeLine(const oracle::Verdict& verdict);
std::string Details(const oracle::Verdict& verdict);  // all of them, and the SampleLine
// The command that judges the case again, quoted for a POSIX shell.
std::string RepeatCommand(const Report& report, const oracle::Verdict& verdict);

}  // namespace sextant::tools
