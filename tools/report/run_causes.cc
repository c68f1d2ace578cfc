#include "tools/report/run_causes.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "reference/base/count_text.h"

namespace sextant::tools {
namespace {

using oracle::Cause;
using oracle::Verdict;

constexpr double kCostOfPart = 8;  // bits: there are a few hundred causes
constexpr double kRefuting = 32;   // bits: two cases of many elements
constexpr double kMostOf = 2.0 / 3;
constexpr double kManyOf = 1.0 / 5;
constexpr size_t kMostOfOne =
    3;                      // causes of one case; more are a class, of which the first is said
constexpr size_t kFew = 3;  // failing cases: all are explained, if only by what is possible
constexpr size_t kSpeakAgainst = 2;  // conforming cases: one may have a path of its own
constexpr double kAll = 7.0 / 8;     // a defect that explains so much is there, in some cases only

// What is said at once: "gain+position_shifted" are two, and a cause that needs another is one.
double CostOf(const Cause& cause) {
  const auto parts = 1 + std::ranges::count(cause.name, '+') + (cause.is_beside ? 1 : 0);
  return kCostOfPart * static_cast<double>(parts);
}

struct Failure {
  const Verdict* verdict;
  double bits;
  bool explained = false;
};

// A cause by its name, and the failures of one operation that have it.
struct Weighed {
  const Cause* cause = nullptr;  // of the failure that tells most
  double cost = 0, bits = 0;     // the least cost; of the failure that tells most
  std::vector<size_t> failures{};
  size_t refuting = 0;
  bool is_refuted = false;

  // It may be said although it is refuted, or says only where y is wrong, if nothing else is said.
  bool IsLast() const { return is_refuted || cause->name == "wrong_in_range"; }
  // What the failures tell that it explains and nothing has explained yet.
  double NewBits(const std::vector<Failure>& all) const {
    double sum = 0;
    for (const size_t i : failures) sum += all[i].explained ? 0 : all[i].bits;
    return sum;
  }
  double Gain(const std::vector<Failure>& all) const { return NewBits(all) - cost; }
  void Explain(std::vector<Failure>& all) const {
    for (const size_t i : failures) all[i].explained = true;
  }
};

std::vector<Weighed> WeighedCausesOf(const std::vector<Failure>& failures) {
  std::map<std::string, size_t> index;  // by name
  std::vector<Weighed> causes;
  for (size_t i = 0; i < failures.size(); ++i) {
    for (const Cause& cause : failures[i].verdict->causes) {
      const auto [at, is_new] = index.emplace(cause.name, causes.size());
      if (is_new) causes.push_back({.cost = CostOf(cause)});
      Weighed& weighed = causes[at->second];
      weighed.cost = std::min(weighed.cost, CostOf(cause));
      if (failures[i].bits > weighed.bits || !weighed.cause) {
        weighed.cause = &cause;
        weighed.bits = failures[i].bits;
      }
      if (weighed.failures.empty() || weighed.failures.back() != i) weighed.failures.push_back(i);
    }
  }
  return causes;
}

const Weighed& BestOf(const std::vector<Weighed>& all, const std::vector<Failure>& failures) {
  return *std::ranges::max_element(all, {}, [&](const Weighed& one) {
    const double gain = one.Gain(failures);
    return std::pair(gain > 0 && !one.IsLast(), gain);
  });
}

// The cause that explains most. But a known defect is tried in every case, so that cases with other
// causes refute it; what is measured is tried only where no defect is found. So a measured cause
// that explains most of what refutes the best defect comes before it, unless that is little.
const Weighed& FirstOf(const std::vector<Weighed>& all, std::vector<Failure> failures) {
  const Weighed& best = BestOf(all, failures);
  if (best.cause->is_measured || best.IsLast()) return best;
  best.Explain(failures);
  double refuting = 0, all_bits = 0;
  for (const Failure& one : failures) {
    all_bits += one.bits;
    refuting += one.explained || one.verdict->causes.empty() ? 0 : one.bits;
  }
  const auto support = [&](const Weighed& one) {
    return one.cause->is_measured && !one.IsLast() ? one.NewBits(failures) : 0;
  };
  const Weighed& other = *std::ranges::max_element(all, {}, support);
  return refuting >= std::max(kRefuting, kManyOf * all_bits) && support(other) >= kMostOf * refuting
             ? other
             : best;
}

std::vector<RunCause> FewestOf(std::vector<Failure>& failures, std::vector<Weighed> all) {
  std::vector<RunCause> chosen;
  std::vector<double> explained;  // by each, in bits
  while (!all.empty()) {
    const Weighed& best = chosen.empty() ? FirstOf(all, failures) : BestOf(all, failures);
    const bool is_among_few = failures.size() <= kFew && best.NewBits(failures) > 0;
    if (best.Gain(failures) <= 0 && !chosen.empty() && !is_among_few) break;
    RunCause cause{*best.cause, best.failures.size()};
    cause.refuting = best.refuting;
    cause.only_possible = best.Gain(failures) <= 0 || best.is_refuted;
    const double bits = best.NewBits(failures);
    for (const size_t i : best.failures) cause.new_cases += !failures[i].explained;
    best.Explain(failures);
    chosen.push_back(std::move(cause));
    explained.push_back(bits);
  }
  double rest = 0;
  for (const Failure& one : failures) rest += one.explained ? 0 : one.bits;
  for (size_t i = 0; i < chosen.size(); ++i) chosen[i].only_possible |= explained[i] < rest;
  return chosen;
}

bool IsInList(const Report& report, const Verdict& verdict) {
  return verdict.status == Verdict::Status::kFails &&
         report.Assess(verdict).result != Result::kAsExpected;
}

// Of the only failure: what explains it, as the case says it.
std::vector<RunCause> CausesOfOne(const Verdict& verdict) {
  std::vector<RunCause> list;
  for (const Cause& cause : verdict.causes)
    list.push_back({cause, 1, list.empty() ? size_t{1} : 0, !IsCertain(verdict, cause)});
  if (list.size() > kMostOfOne) list.resize(1);
  return list;
}

}  // namespace

std::vector<OperationCauses> CausesOf(const Report& report) {
  std::map<std::string, std::vector<Failure>> by_operation;
  for (const Verdict& verdict : report.verdicts)
    if (IsInList(report, verdict))
      by_operation[OperationOf(verdict)].push_back({&verdict, BitsOf(verdict)});
  std::vector<OperationCauses> list;
  for (auto& [operation, failures] : by_operation) {
    OperationCauses causes{.operation = operation, .failing = failures.size()};
    std::vector<Weighed> all = WeighedCausesOf(failures);
    double bits = 0;
    for (const Failure& one : failures) bits += one.bits;
    const auto refuting_of = [&](const Cause& cause) {
      const auto at = report.refuting.find(operation + "/" + cause.name);
      return at == report.refuting.end() || cause.is_measured ? 0 : at->second;
    };
    for (Weighed& one : all) {
      one.refuting = refuting_of(*one.cause);
      one.is_refuted = one.refuting >= kSpeakAgainst && one.NewBits(failures) < kAll * bits;
    }
    causes.causes = FewestOf(failures, std::move(all));
    if (failures.size() == 1) {
      causes.causes = CausesOfOne(*failures[0].verdict);
      for (RunCause& one : causes.causes) one.refuting = refuting_of(one.cause);
    }
    causes.unexplained =
        static_cast<size_t>(std::ranges::count(failures, false, &Failure::explained));
    list.push_back(std::move(causes));
  }
  return list;
}

std::vector<std::string> CauseLinesOf(const Report& report) {
  std::vector<std::string> lines;
  if (report.HasOneCase()) return lines;
  for (const auto& [operation, failing, unexplained, causes] : CausesOf(report)) {
    for (const auto& [cause, cases, new_cases, only_possible, refuting] : causes) {
      const bool is_first = &cause == &causes.front().cause;
      std::string line = CountText(new_cases, "other");
      if (is_first || failing == 1)
        line = std::to_string(cases) + " of " + CountText(failing, "failing case");
      line += only_possible ? ": possible cause " : ": likely cause ";
      line += (cause.is_measured ? "" : "defect:") + operation + "/" + cause.name;
      line += " (" + cause.why + ")";
      if (refuting > 0) line += "; " + CountText(refuting, "conforming case") + " would fail by it";
      lines.push_back(std::move(line));
    }
    if (unexplained > 0 && !causes.empty())
      lines.push_back(CountText(unexplained, "other") + ": none of these, see -v");
  }
  return lines;
}

std::vector<Verdict> VerdictsOf(const Report& report) {
  std::vector<Verdict> verdicts = report.verdicts;
  if (report.HasOneCase()) return verdicts;
  std::set<std::pair<std::string, std::string>> listed;  // operation, name
  for (const OperationCauses& of : CausesOf(report))
    for (const RunCause& one : of.causes) listed.emplace(of.operation, one.cause.name);
  for (Verdict& verdict : verdicts) {
    if (!IsInList(report, verdict)) continue;
    std::erase_if(verdict.causes, [&](const Cause& cause) {
      return !listed.contains({OperationOf(verdict), cause.name});
    });
  }
  return verdicts;
}

}  // namespace sextant::tools
