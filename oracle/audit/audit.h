// Tests the test suite: do these cases catch every audit target (oracle/audit/audit_targets.h)?
// A target must be caught in every dtype in which it can show. It can show in a dtype if a case
// that catches it in another dtype also catches it after its dtype is changed to this one.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle/subject/subject.h"
#include "reference/case/case.h"
#include "reference/case/draw.h"

namespace sextant::oracle {

// A dtype in which a target can show, but no case of this dtype catches it.
struct MissingDType {
  DType dtype;
  std::vector<size_t> retyped;  // cases that catch the target in this dtype, smallest first
};

// The result for one target.
struct TargetResult {
  std::string operation;
  std::string target;  // AuditTarget::name
  std::string why;
  std::vector<size_t> caught_by{};      // indices of the cases that catch it
  std::vector<MissingDType> missing{};  // empty if no case catches it
  std::vector<DType> cannot_show{};  // dtypes in which none of the cases `caught_by` would catch it
  bool is_goal = false;              // a coverage goal, not a defect
  bool Survives() const { return caught_by.empty() || !missing.empty(); }
};

struct Audit {
  // Cases in which the baseline subject fails. If there are any, no target is scored.
  std::vector<std::string> baseline_failures;
  std::vector<TargetResult> results;
  bool Passed() const;
};

// A case of more elements is tried only on the targets that no case before it, of its dtype, has
// caught: each costs an evaluation of the whole.
inline constexpr size_t kLargeCase = size_t{1} << 16;

struct AuditOptions {
  std::function<void(double done)> progress = nullptr;  // 0 .. 1
  FileReader read_file = nullptr;                       // for inputs that are files
  // The subject from which targets are made. It must conform in all cases.
  Subject baseline = RecipeSubject("native");
  bool all_retyped = false;  // MissingDType::retyped has all such cases, not only the smallest
};
Audit AuditSuite(const std::vector<Case>& cases, const AuditOptions& options = {});

// The same case in another dtype; empty if the case is not valid in it.
std::optional<Case> WithDType(const Case& c, DType dtype);

// The number of elements of all outputs.
size_t OutputElements(const Case& c);

}  // namespace sextant::oracle
