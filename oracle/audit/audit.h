// Tests the test suite: do these cases catch every defect, and an honest subject that errs just
// once by just too much?
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle/subject/subject.h"
#include "reference/case/case.h"
#include "reference/case/draw.h"

namespace sextant::oracle {

// One thing that must be caught, and by which of the cases it is; by none if it survives.
struct Caught {
  std::string operation;
  std::string what;  // the name of a defect or blind spot, or "(one element pushed)"
  std::string why;
  std::vector<size_t> by;
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
};
Audit AuditSuite(const std::vector<Case>& cases, const AuditOptions& options = {});

}  // namespace sextant::oracle
