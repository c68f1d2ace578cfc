// Tests the test suite: do these cases catch every target of an honest subject
// (oracle/audit/audit_targets.h)? A target must be caught in every dtype in which it can show. It
// can show in a dtype if a case that catches it in another dtype would catch it there as well, once
// its dtype is changed.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle/subject/subject.h"
#include "reference/case/case.h"
#include "reference/case/draw.h"

namespace sextant::oracle {

// A dtype of which no case catches a target that can show there.
struct Missing {
  DType dtype;
  std::vector<size_t> retyped;  // the cases that would catch it in this dtype, smallest first
};

// One target, and by which of the cases it is caught; by none if it survives everywhere.
struct Caught {
  std::string operation;
  std::string what;  // the name of the target
  std::string why;
  std::vector<size_t> by{};
  std::vector<Missing> missing{};    // empty unless it is caught in some dtype
  std::vector<DType> cannot_show{};  // dtypes in which no case that catches it would
  bool Survives() const { return by.empty() || !missing.empty(); }
};

struct Audit {
  // Cases in which the honest reference itself fails: then nothing is scored.
  std::vector<std::string> dishonest;
  std::vector<Caught> results;
  bool Passed() const;
};

struct AuditOptions {
  std::function<void(double done)> progress = nullptr;  // 0 .. 1
  FileReader read_file = nullptr;                       // for inputs that are files
  // What must conform to every case before anything is scored, and what errs just once.
  Subject honest = RecipeSubject("native");
  bool all_retyped = false;  // Missing names all cases that would do, not only the smallest
};
Audit AuditSuite(const std::vector<Case>& cases, const AuditOptions& options = {});

// The same case in another dtype; empty if there is none.
std::optional<Case> Retyped(const Case& c, DType dtype);

// How many elements its answer has.
size_t SizeOf(const Case& c);

}  // namespace sextant::oracle
