#include "tools/report/run_causes.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace sextant::tools {
namespace {

using oracle::Cause;
using oracle::Verdict;

constexpr double kMostBits = 16;   // of a case: further elements fail for the same reason
constexpr double kBitsOfRow = 4;   // a number of a row decides all its elements
constexpr double kCostOfPart = 8;  // bits: there are a few hundred causes

double BitsOf(const Verdict& verdict) {
  size_t failed = 0, rows = 0;
  for (const auto* tensors : {&verdict.tensors, &verdict.trace}) {
    for (const oracle::TensorVerdict& tensor : *tensors) {
      failed += tensor.failed;
      rows += tensor.failed > 0 ? MostFailingRows(tensor) : 0;
    }
  }
  return std::min({kMostBits, kBitsOfRow * static_cast<double>(rows),
                   std::log2(1 + static_cast<double>(failed))});
}

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

  double GainIn(const std::vector<Failure>& all) const {
    double gain = -cost;
    for (const size_t i : failures) gain += all[i].explained ? 0 : all[i].bits;
    return gain;
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

std::vector<RunCause> FewestOf(std::vector<Failure>& failures) {
  const std::vector<Weighed> all = WeighedCausesOf(failures);
  std::vector<RunCause> chosen;
  while (!all.empty()) {
    const auto gain = [&](const Weighed& weighed) { return weighed.GainIn(failures); };
    const Weighed& best = *std::ranges::max_element(all, {}, gain);
    if (gain(best) <= 0 && (!chosen.empty() || best.GainIn(failures) == -best.cost)) break;
    RunCause cause{*best.cause, best.failures.size()};
    cause.only_possible = gain(best) <= 0;
    for (const size_t i : best.failures) {
      cause.new_cases += !failures[i].explained;
      failures[i].explained = true;
    }
    chosen.push_back(std::move(cause));
  }
  return chosen;
}

}  // namespace

std::vector<OperationCauses> CausesOf(const Report& report) {
  std::map<std::string, std::vector<Failure>> by_operation;
  for (const Verdict& verdict : report.verdicts) {
    if (verdict.status != Verdict::Status::kFails) continue;
    if (report.Assess(verdict).result == Result::kAsExpected) continue;
    by_operation[OperationOf(verdict)].push_back({&verdict, BitsOf(verdict)});
  }
  std::vector<OperationCauses> list;
  for (auto& [operation, failures] : by_operation) {
    OperationCauses causes{.operation = operation, .failing = failures.size()};
    causes.causes = FewestOf(failures);
    causes.unexplained =
        static_cast<size_t>(std::ranges::count(failures, false, &Failure::explained));
    list.push_back(std::move(causes));
  }
  return list;
}

}  // namespace sextant::tools
