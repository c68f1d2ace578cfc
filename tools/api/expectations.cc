#include "tools/api/expectations.h"

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "oracle/judge/failing_indices.h"
#include "tools/api/pattern.h"

namespace sextant::tools {
namespace {

using oracle::FailingIndices;
using oracle::Grade;
using oracle::TensorVerdict;
using oracle::Verdict;

std::string Text(const AxisRange& range) {
  std::string text = range.axis + "=" + std::to_string(range.first) + "..";
  if (range.last < std::numeric_limits<int64_t>::max()) text += std::to_string(range.last);
  return text;
}

std::string Joined(const auto& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + std::string(name);
  return text;
}

// The tensors of which elements have the expected outcome, end to end or in the trace.
std::vector<const TensorVerdict*> TensorsWith(const Verdict& verdict, Outcome outcome) {
  std::vector<const TensorVerdict*> found;
  for (const auto* tensors : {&verdict.tensors, &verdict.trace}) {
    for (const TensorVerdict& t : *tensors) {
      const Grade grade = outcome == Outcome::kFails ? Grade::kFails : Grade::kUnlikely;
      if (t.grade == grade) found.push_back(&t);
    }
  }
  return found;
}

std::string RangeContradiction(const AxisRange& range, const TensorVerdict& t) {
  const auto at = std::ranges::find(t.failing, range.axis, &FailingIndices::axis);
  if (at == t.failing.end()) return "";
  if (at->elsewhere) return t.name + " fails also where it has no " + range.axis;
  for (const auto& [first, last] : at->ranges) {
    if (first >= range.first && last <= range.last) continue;
    const int64_t outside = first < range.first ? first : last;
    return t.name + " fails at " + range.axis + "=" + std::to_string(outside) + ", expected only " +
           Text(range);
  }
  return "";
}

}  // namespace

std::string_view NameOf(Outcome outcome) { return kOutcomeNames[static_cast<size_t>(outcome)]; }

Outcome OutcomeOf(Verdict::Status status) {
  switch (status) {
    case Verdict::Status::kConforms:
      return Outcome::kConforms;
    case Verdict::Status::kUnverified:
      return Outcome::kUnverified;
    case Verdict::Status::kFails:
      return Outcome::kFails;
    case Verdict::Status::kUnsupported:
      return Outcome::kUnsupported;
    case Verdict::Status::kCouldNotRun:
      break;
  }
  return Outcome::kCouldNotRun;
}

Outcome OutcomeOf(const Verdict& verdict, bool strict) {
  const Outcome outcome = OutcomeOf(verdict.status);
  const bool counts = outcome == Outcome::kConforms || (outcome == Outcome::kUnverified && strict);
  return counts && verdict.grade == Grade::kUnlikely ? Outcome::kUnlikely : outcome;
}

const Expectation* Expectations::For(const std::string& case_line) const {
  const auto decides = [&case_line](const Expectation& entry) {
    return !entry.expired && MatchesPattern(case_line, entry.cases);
  };
  const auto at = std::ranges::find_if(entries_, decides);
  return at == entries_.end() ? nullptr : &*at;
}

const Expectation* Expectations::For(const std::string& case_line, Outcome outcome) const {
  const Expectation* entry = For(case_line);
  return entry && entry->may && outcome != Outcome::kFails ? nullptr : entry;
}

void Expectations::RequireNames(const Case& c) const {
  const Expectation* entry = For(c.ToString());
  if (!entry) return;
  const auto& outputs = c.info().signature.outputs;
  for (const std::string& name : entry->outputs) {
    if (std::ranges::find(outputs, name, &TensorSpec::name) != outputs.end()) continue;
    std::vector<std::string> names;
    for (const TensorSpec& output : outputs) names.push_back(output.name);
    throw Error(entry->where, ": ", c.name(), " has no output '", name,
                "'; it has: ", Joined(names));
  }
  std::set<std::string> axes;
  for (const TensorSpec& output : outputs) {
    const bool listed = entry->outputs.empty() || std::ranges::count(entry->outputs, output.name);
    if (listed)
      axes.merge([&] {
        const auto names = oracle::AxisNamesOf(c.operation(), output);
        return std::set<std::string>(names.begin(), names.end());
      }());
  }
  for (const AxisRange& range : entry->ranges) {
    if (axes.contains(range.axis)) continue;
    throw Error(entry->where, ": ", c.name(), " has no output with the axis '", range.axis,
                "'; axes are: ", Joined(axes));
  }
}

std::vector<std::string> Expectations::StaleEntries(
    const std::vector<std::string>& case_lines) const {
  std::set<const Expectation*> used;
  for (const std::string& line : case_lines) used.insert(For(line));
  std::vector<std::string> messages;
  for (const Expectation& entry : entries_) {
    if (used.contains(&entry)) continue;
    const bool matches = std::ranges::any_of(case_lines, [&entry](const std::string& line) {
      return MatchesPattern(line, entry.cases);
    });
    const std::string why = entry.expired ? "expired after " + entry.until
                            : matches     ? "earlier entries decide every case that it matches, "
                                            "expected special entries before general ones"
                                          : "it matches no case";
    messages.push_back(entry.where + ": " + why + ": cases = \"" + entry.cases + "\"");
  }
  return messages;
}

std::string Contradiction(const Expectation& expected, Outcome outcome) {
  if (outcome == expected.outcome) return "";
  return "it is expected to be '" + std::string(NameOf(expected.outcome)) + "', but is '" +
         std::string(NameOf(outcome)) + "'";
}

std::string Contradiction(const Expectation& expected, const Verdict& verdict, bool strict) {
  const Outcome outcome = OutcomeOf(verdict, strict);
  const bool unlikely_conforms = outcome == Outcome::kUnlikely && !strict;
  if (expected.outcome == Outcome::kConforms && unlikely_conforms) return "";
  if (std::string other = Contradiction(expected, outcome); !other.empty()) return other;
  const auto tensors = TensorsWith(verdict, outcome);
  for (const TensorVerdict* t : tensors) {
    const bool listed =
        expected.outputs.empty() || std::ranges::count(expected.outputs, t->name) > 0;
    if (!listed)
      return t->name + " is '" + std::string(NameOf(outcome)) + "', which is expected only of " +
             Joined(expected.outputs);
  }
  for (const TensorVerdict* t : tensors) {
    for (const AxisRange& range : expected.ranges) {
      if (const std::string why = RangeContradiction(range, *t); !why.empty()) return why;
    }
  }
  std::vector<std::string> causes;
  for (const oracle::Cause& cause : verdict.causes) causes.push_back(cause.name);
  const bool named = expected.cause.empty() || std::ranges::count(causes, expected.cause) > 0;
  if (named) return "";
  return "the expected cause is " + expected.cause +
         (causes.empty() ? ", but no cause was found" : ", but likely is: " + Joined(causes));
}

}  // namespace sextant::tools
