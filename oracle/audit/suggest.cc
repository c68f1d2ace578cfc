#include "oracle/audit/suggest.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <sstream>

#include "oracle/audit/audit_targets.h"
#include "oracle/audit/hitting_set.h"
#include "oracle/property/random_case.h"
#include "reference/case/operations.h"

namespace sextant::oracle {
namespace {

// Extents to which a suggested case is shrunk. 72 is a long row.
constexpr int64_t kExtents[] = {1, 2, 3, 4, 6, 8, 16, 17, 24, 32, 72};

// The gaps in one dtype of one operation (targets to catch), and cases that close them.
struct Gaps {
  std::vector<std::string> names;       // names of targets
  std::vector<std::vector<size_t>> by;  // per target: indices of the cases that catch it
  std::vector<Case> cases;

  void Add(const std::string& name) {
    names.push_back(name);
    by.emplace_back();
  }
  void Close(size_t gap, const Case& c) {
    const std::string line = c.ToString();
    const auto at = std::ranges::find(cases, line, &Case::ToString);
    by[gap].push_back(static_cast<size_t>(at - cases.begin()));
    if (at == cases.end()) cases.push_back(c);
  }
};

// All gaps of one operation. In every dtype, the targets that no case catches come first.
class OperationGaps {
 public:
  OperationGaps(const std::string& operation, const AuditOptions& options)
      : operation_(operation), targets_(AuditTargetsOf(operation)), options_(options) {}
  void Add(const TargetResult& result, const std::vector<Case>& cases) {
    if (result.caught_by.empty()) survivors_.push_back(result.target);
    for (const MissingDType& missing : result.missing) missing_.push_back({&result, &missing});
    cases_ = &cases;
  }
  void Close(size_t tries, Suggestions& suggestions) {
    for (const DType dtype : kFloatTypes) {
      for (const std::string& name : survivors_) gaps_[dtype].Add(name);
    }
    if (!survivors_.empty()) TryRandomCases(tries);
    for (size_t m = 0; m < survivors_.size(); ++m) {
      const bool closed =
          std::ranges::any_of(gaps_, [m](const auto& gaps) { return !gaps.second.by[m].empty(); });
      if (!closed) suggestions.uncaught.push_back(operation_ + "/" + survivors_[m]);
    }
    for (const auto& [result, missing] : missing_) {
      Gaps& gaps = gaps_[missing->dtype];
      gaps.Add(result->target);
      for (const size_t i : missing->retyped) {
        gaps.Close(gaps.names.size() - 1, *WithDType((*cases_)[i], missing->dtype));
      }
    }
    for (auto& [dtype, gaps] : gaps_) Choose(dtype, gaps, suggestions);
  }

 private:
  // The random cases are the same in every call.
  void TryRandomCases(size_t tries) {
    std::vector<const AuditTarget*> targets;
    for (const std::string& name : survivors_) {
      targets.push_back(&*std::ranges::find(targets_, name, &AuditTarget::name));
    }
    const CaseSpace space(*MakeOperationNamed(operation_), true);
    std::mt19937_64 random;
    for (size_t t = 0; t < tries; ++t) {
      std::vector<size_t> indices;
      for (const size_t size : space.sizes()) indices.push_back(random() % size);
      const auto drawn = space.At(indices);
      if (!drawn) continue;
      for (const DType dtype : kFloatTypes) Try(*drawn, dtype, targets);
    }
  }
  void Try(const Case& drawn, DType dtype, const std::vector<const AuditTarget*>& targets) {
    Gaps& gaps = gaps_[dtype];
    if (std::ranges::none_of(gaps.by, &std::vector<size_t>::empty)) return;
    const auto c = WithDType(drawn, dtype);
    if (!c) return;
    try {
      const AuditedCase question(*c, options_.baseline, options_.read_file);
      for (size_t m = 0; m < targets.size(); ++m) {
        if (targets[m]->caught(question) == true && !question.BaselineFails()) gaps.Close(m, *c);
      }
    } catch (const Error&) {
      return;  // an input value exceeds the range of the dtype
    }
  }
  // True if the case catches all of these targets.
  bool Catches(const Case& c, const std::vector<const AuditTarget*>& targets) const {
    try {
      const AuditedCase question(c, options_.baseline, options_.read_file);
      return std::ranges::all_of(
                 targets, [&](const AuditTarget* m) { return m->caught(question) == true; }) &&
             !question.BaselineFails();
    } catch (const Error&) {
      return false;
    }
  }
  // Shrinks the dimensions as long as the case still catches these targets.
  Case Shrunk(Case c, const std::vector<const AuditTarget*>& targets) const {
    for (size_t size = OutputElements(c) + 1; OutputElements(c) < size;) {
      size = OutputElements(c);
      c = ShrunkOnce(c, targets);
    }
    return c;
  }
  Case ShrunkOnce(Case c, const std::vector<const AuditTarget*>& targets) const {
    for (const auto& [letter, extent] : Dimensions(c.dimensions())) {
      for (const int64_t shorter : kExtents) {
        if (shorter >= extent) break;
        try {
          const Case smaller = c.With(letter + "=" + std::to_string(shorter));
          if (!Catches(smaller, targets)) continue;
          c = smaller;
          break;
        } catch (const Error&) {
          continue;  // dimensions that do not fit each other or a list
        }
      }
    }
    return c;
  }
  // Suggests the fewest cases that close all gaps of a dtype, preferring smaller cases.
  void Choose(DType dtype, const Gaps& gaps, Suggestions& suggestions) const {
    std::vector<size_t> order(gaps.cases.size()), rank(order.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](size_t i) { return OutputElements(gaps.cases[i]); });
    for (size_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
    std::vector<std::vector<size_t>> sets;
    std::vector<const AuditTarget*> targets;
    for (size_t g = 0; g < gaps.names.size(); ++g) {
      if (gaps.by[g].empty()) continue;
      targets.push_back(&*std::ranges::find(targets_, gaps.names[g], &AuditTarget::name));
      sets.emplace_back();
      for (const size_t i : gaps.by[g]) sets.back().push_back(rank[i]);
      std::ranges::sort(sets.back());
    }
    const auto chosen = FindHittingSet(sets).elements;
    const auto closed_by = [&](size_t s) {
      return std::ranges::count_if(
          chosen, [&](size_t c) { return std::ranges::binary_search(sets[s], c); });
    };
    for (const size_t one : chosen) {
      std::vector<size_t> own;  // gaps that it closes; those closed by few cases first
      for (size_t s = 0; s < sets.size(); ++s) {
        if (std::ranges::binary_search(sets[s], one)) own.push_back(s);
      }
      std::ranges::stable_sort(own, {}, closed_by);
      std::vector<const AuditTarget*> caught;
      for (const size_t s : own) caught.push_back(targets[s]);
      Suggestion suggestion{Shrunk(gaps.cases[order[one]], caught), {}};
      for (const AuditTarget* target : caught) {
        suggestion.closes.push_back(target->name + " in " + std::string(NameOf(dtype)));
      }
      suggestions.cases.push_back(std::move(suggestion));
    }
  }

  std::string operation_;
  std::vector<AuditTarget> targets_;
  const AuditOptions& options_;
  const std::vector<Case>* cases_ = nullptr;
  std::vector<std::string> survivors_;
  std::vector<std::pair<const TargetResult*, const MissingDType*>> missing_;
  std::map<DType, Gaps> gaps_;
};

}  // namespace

std::string ShortestLine(const Case& c) {
  const std::string canonical = c.ToString();
  std::istringstream words(canonical);
  std::vector<std::string> kept;
  for (std::string word; words >> word;) kept.push_back(word);
  const auto joined = [](const std::vector<std::string>& all) {
    std::string line = all[0];
    for (size_t i = 1; i < all.size(); ++i) line += " " + all[i];
    return line;
  };
  for (size_t i = kept.size() - 1; i > 0; --i) {
    std::vector<std::string> fewer = kept;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    try {
      if (Case::Parse(joined(fewer)).ToString() == canonical) kept = std::move(fewer);
    } catch (const Error&) {
      continue;  // the word is required
    }
  }
  return joined(kept);
}

Suggestions Suggest(const Audit& audit, const std::vector<Case>& cases,
                    const SuggestOptions& options) {
  std::map<std::string, OperationGaps> all_gaps;
  for (const TargetResult& result : audit.results) {
    all_gaps.try_emplace(result.operation, result.operation, options.audit)
        .first->second.Add(result, cases);
  }
  Suggestions suggestions;
  for (auto& [operation, gaps] : all_gaps) gaps.Close(options.tries, suggestions);
  return suggestions;
}

}  // namespace sextant::oracle
