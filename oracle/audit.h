// Tests the test suite: do these cases catch every defect, and an honest subject that errs just
// once by just too much?
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reference/case.h"

namespace sextant::oracle {

// One thing that must be caught, and by which case it first was; empty if it survives.
struct Caught {
  std::string operation;
  std::string what;  // "defect wrong_base", "attribute pairing", "one element beyond permitted"
  std::string why;
  std::string by;
};

struct Audit {
  // Cases in which the honest reference itself fails: then nothing is scored.
  std::vector<std::string> dishonest;
  std::vector<Caught> results;
  bool Passed() const;
};

Audit AuditSuite(const std::vector<Case>& cases, const std::function<void(double done)>& progress);

}  // namespace sextant::oracle
