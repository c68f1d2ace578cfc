// The text of a new file of expectations.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "oracle/judge/failing_indices.h"
#include "tools/api/expectations.h"
#include "tools/api/pattern.h"
#include "tools/api/toml.h"

namespace sextant::tools {
namespace {

using oracle::TensorVerdict;
using oracle::Verdict;

// From the first to the last failing value of each axis on which not all elements fail, without the
// axes from which another one of these derives.
std::vector<AxisRange> RangesOf(const Verdict& verdict) {
  std::map<std::string, AxisRange> ranges;
  std::set<std::string> whole, replaced;
  for (const auto* tensors : {&verdict.tensors, &verdict.trace}) {
    for (const TensorVerdict& t : *tensors) {
      for (const oracle::FailingIndices& axis : t.failing) {
        if (axis.everywhere || axis.elsewhere) {
          whole.insert(axis.axis);
          continue;
        }
        replaced.insert(axis.derived_from);
        const AxisRange hull{axis.axis, axis.ranges.front().first, axis.ranges.back().second};
        AxisRange& range = ranges.emplace(axis.axis, hull).first->second;
        range.first = std::min(range.first, hull.first);
        range.last = std::max(range.last, hull.last);
      }
    }
  }
  std::vector<AxisRange> found;
  for (const auto& [name, range] : ranges) {
    if (!whole.contains(name) && !replaced.contains(name)) found.push_back(range);
  }
  return found;
}

using Verdicts = std::vector<const Verdict*>;

// The names of the outputs that fail, as `outputs` has them.
toml::array FailingOutputsOf(const Verdicts& verdicts) {
  toml::array outputs;
  std::set<std::string> names;
  for (const Verdict* verdict : verdicts) {
    for (const auto* tensors : {&verdict->tensors, &verdict->trace}) {
      for (const TensorVerdict& t : *tensors) {
        if (t.grade == oracle::Grade::kFails && names.insert(t.name).second)
          outputs.push_back(t.name);
      }
    }
  }
  return outputs;
}

toml::table EntryOf(const Verdict& verdict, Outcome outcome) {
  toml::table entry;
  entry.insert("cases", verdict.case_line);
  entry.insert("outcome", std::string(NameOf(outcome)));
  entry.insert("reason", std::string(kNoReasonYet));
  if (!verdict.causes.empty()) entry.insert("cause", verdict.causes[0].name);
  if (outcome != Outcome::kFails) return entry;
  const toml::array outputs = FailingOutputsOf({&verdict});
  if (!outputs.empty()) entry.insert("outputs", outputs);
  for (const auto& [axis, first, last] : RangesOf(verdict))
    entry.insert(axis, toml::array{first, last});
  return entry;
}

Verdicts Matching(const Verdicts& verdicts, const std::string& pattern) {
  Verdicts matching;
  std::ranges::copy_if(verdicts, std::back_inserter(matching), [&](const Verdict* verdict) {
    return MatchesPattern(verdict->case_line, pattern);
  });
  return matching;
}

// Those that have the likely cause that most of them have, and that cause.
std::pair<Verdicts, std::string> WithMostFrequentCause(const Verdicts& verdicts) {
  std::map<std::string, Verdicts> by_cause;
  for (const Verdict* verdict : verdicts) {
    for (const oracle::Cause& cause : verdict->causes) by_cause[cause.name].push_back(verdict);
  }
  if (by_cause.empty()) return {};
  const auto most =
      std::ranges::max_element(by_cause, {}, [](const auto& entry) { return entry.second.size(); });
  return {most->second, most->first};
}

// One entry for the failures that match the pattern and have one cause, which are taken out of
// `failing`: all that match, or if `some` those with the most frequent cause; at least two.
void AddGeneralEntry(const std::string& pattern, bool some, Verdicts& failing,
                     toml::array& entries) {
  const Verdicts matching = Matching(failing, pattern);
  const auto [verdicts, cause] = WithMostFrequentCause(matching);
  if (verdicts.size() < 2 || !(some || verdicts.size() == matching.size())) return;
  toml::table entry{
      {"cases", pattern}, {"may", "fail"}, {"cause", cause}, {"reason", std::string(kNoReasonYet)}};
  const toml::array outputs = FailingOutputsOf(verdicts);
  if (!outputs.empty()) entry.insert("outputs", outputs);
  entries.push_back(entry);
  std::erase_if(failing, [&taken = verdicts](const Verdict* verdict) {
    return std::ranges::count(taken, verdict) > 0;
  });
}

// Entries for an operation, else for an operation and dtype, else for most of the operation; in the
// order in which they must stand after the entries of the failures that are left.
toml::array TakeGeneralEntries(Verdicts& failing) {
  std::set<std::string> operations, dtypes;
  for (const Verdict* verdict : failing) {
    const std::string& line = verdict->case_line;
    const std::string operation = line.substr(0, line.find(' ')) + " *";
    const size_t dtype = line.find(" dtype=");
    operations.insert(operation);
    dtypes.insert(operation + line.substr(dtype, line.find(' ', dtype + 1) - dtype) + " *");
  }
  toml::array of_operations, of_dtypes;
  for (const std::string& pattern : operations)
    AddGeneralEntry(pattern, false, failing, of_operations);
  for (const std::string& pattern : dtypes) {
    const auto cause_of = [&failing](const std::string& cases) {
      return WithMostFrequentCause(Matching(failing, cases)).second;
    };
    const std::string operation = pattern.substr(0, pattern.find(" dtype="));
    if (cause_of(pattern) != cause_of(operation))
      AddGeneralEntry(pattern, false, failing, of_dtypes);
  }
  for (const std::string& pattern : operations)
    AddGeneralEntry(pattern, true, failing, of_operations);
  for (const toml::node& entry : of_operations) of_dtypes.push_back(*entry.as_table());
  return of_dtypes;
}

}  // namespace

std::string ExpectationsOf(const std::vector<Verdict>& verdicts, bool strict) {
  Verdicts failing, others;
  std::set<std::string> seen;
  for (const Verdict& verdict : verdicts) {
    const Outcome outcome = OutcomeOf(verdict, strict);
    const bool is_known = outcome == Outcome::kConforms || !seen.insert(verdict.case_line).second;
    if (!is_known) (outcome == Outcome::kFails ? failing : others).push_back(&verdict);
  }
  const toml::array general = TakeGeneralEntries(failing);
  toml::array entries;
  for (const auto* single : {&failing, &others}) {
    for (const Verdict* verdict : *single)
      entries.push_back(EntryOf(*verdict, OutcomeOf(*verdict, strict)));
  }
  for (const toml::node& entry : general) entries.push_back(*entry.as_table());
  std::ostringstream text;
  text << toml::table{{"expect", entries}} << "\n";
  return text.str();
}

}  // namespace sextant::tools
