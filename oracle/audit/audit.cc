#include "oracle/audit/audit.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "oracle/audit/audit_targets.h"
#include "oracle/judge/judge.h"
#include "reference/case/out_of_memory.h"

namespace sextant::oracle {
namespace {

// Counts the steps of an audit and reports progress.
class Steps {
 public:
  Steps(size_t all, const AuditOptions& options) : all_(all), progress_(options.progress) {}
  void Next() {
    ++done_;
    if (progress_) progress_(static_cast<double>(done_) / static_cast<double>(all_));
  }

 private:
  size_t done_ = 0, all_;
  const std::function<void(double done)>& progress_;
};

// The case in another dtype; null if the case or its inputs are not valid in it.
std::unique_ptr<AuditedCase> AuditedIn(DType dtype, const Case& c, const AuditOptions& options) {
  const auto retyped = WithDType(c, dtype);
  if (!retyped) return nullptr;
  try {
    return std::make_unique<AuditedCase>(*retyped, options.baseline, options.read_file);
  } catch (const Error&) {
    return nullptr;  // an input value exceeds the range of the dtype
  }
}

// Finds which targets of one operation its cases catch.
class Scores {
 public:
  explicit Scores(const std::string& operation) : targets_(AuditTargetsOf(operation)) {
    for (const AuditTarget& target : targets_) {
      results_.push_back({operation, target.name, target.why});
      results_.back().is_goal = target.is_goal;
    }
    missed_.resize(targets_.size());
    caught_in_.resize(targets_.size());
  }
  void Score(size_t index, const AuditedCase& question) {
    own_.push_back(index);
    const DType dtype = question.c().dtype();
    const bool is_large = ElementsOf(question.c()) > kLargeCase;
    for (size_t m = 0; m < targets_.size(); ++m) {
      const bool is_caught = caught_in_[m].contains(dtype);
      if (is_large && is_caught && !targets_[m].everywhere) continue;
      const std::optional<bool> caught = targets_[m].caught(question);
      if (!caught) continue;
      if (*caught) results_[m].caught_by.push_back(index);
      if (*caught) caught_in_[m].insert(dtype);
      if (!*caught && targets_[m].everywhere) missed_[m] = true;
    }
  }
  void Finish(const std::vector<Case>& cases, const AuditOptions& options, Steps& steps) {
    for (size_t m = 0; m < targets_.size(); ++m) {
      if (missed_[m]) results_[m].caught_by.clear();
    }
    std::ranges::stable_sort(own_, {}, [&](size_t i) { return OutputElements(cases[i]); });
    for (const DType dtype : kFloatTypes) ScoreRetyped(dtype, cases, options, steps);
  }
  const std::vector<TargetResult>& results() const { return results_; }

 private:
  // For every target that no case of `dtype` catches, tries the cases that catch it in other
  // dtypes.
  void ScoreRetyped(DType dtype, const std::vector<Case>& cases, const AuditOptions& options,
                    Steps& steps) {
    std::map<size_t, std::vector<size_t>> found;  // target -> cases that would catch it
    for (size_t m = 0; m < targets_.size(); ++m) {
      const auto& by = results_[m].caught_by;
      if (by.empty() || !targets_[m].in_every_dtype) continue;
      if (std::ranges::any_of(by, [&](size_t i) { return cases[i].dtype() == dtype; })) continue;
      found[m];
    }
    for (const size_t i : own_) {
      steps.Next();
      std::vector<size_t> tried;
      for (const auto& [m, retyped] : found) {
        if (!options.all_retyped && !retyped.empty()) continue;
        if (std::ranges::binary_search(results_[m].caught_by, i)) tried.push_back(m);
      }
      if (tried.empty()) continue;
      WithinMemory(cases[i], [&] {
        const auto question = AuditedIn(dtype, cases[i], options);
        for (const size_t m : tried) {
          if (question && targets_[m].caught(*question) == true && !question->BaselineFails())
            found[m].push_back(i);
        }
      });
    }
    for (auto& [m, retyped] : found) {
      if (retyped.empty()) {
        results_[m].cannot_show.push_back(dtype);
      } else {
        results_[m].missing.push_back({dtype, std::move(retyped)});
      }
    }
  }

  std::vector<AuditTarget> targets_;
  std::vector<TargetResult> results_;
  std::vector<std::set<DType>> caught_in_;  // of each target, the dtypes of cases that catch it
  std::vector<bool> missed_;  // targets that must be caught everywhere, but some case did not
  std::vector<size_t> own_;   // indices of the operation's cases
};

}  // namespace

bool Audit::Passed() const {
  return baseline_failures.empty() && !results.empty() &&
         std::ranges::none_of(results, &TargetResult::Survives);
}

std::optional<Case> WithDType(const Case& c, DType dtype) {
  try {
    return c.With("dtype=" + std::string(NameOf(dtype)));
  } catch (const Error&) {
    return std::nullopt;
  }
}

size_t OutputElements(const Case& c) {
  size_t size = 0;
  for (const TensorSpec& output : c.info().signature.outputs) size += CountOf(c.ShapeOf(output));
  return size;
}

Audit AuditSuite(const std::vector<Case>& cases, const AuditOptions& options) {
  Audit audit;
  std::map<std::string, Scores> scores;
  Steps steps(cases.size() * (1 + std::size(kFloatTypes)), options);
  for (size_t i = 0; i < cases.size(); ++i) {
    WithinMemory(cases[i], [&] {
      const AuditedCase question(cases[i], options.baseline, options.read_file);
      if (question.BaselineFails()) audit.baseline_failures.push_back(cases[i].ToString());
      if (!audit.baseline_failures.empty()) return;
      const std::string& operation = cases[i].name();
      scores.try_emplace(operation, operation).first->second.Score(i, question);
    });
    steps.Next();
  }
  if (!audit.baseline_failures.empty()) return audit;
  for (auto& [operation, own] : scores) {
    own.Finish(cases, options, steps);
    audit.results.insert(audit.results.end(), own.results().begin(), own.results().end());
  }
  return audit;
}

}  // namespace sextant::oracle
