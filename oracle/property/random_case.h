// Random cases of an operation, drawn from its list of choices.
// A case is represented by a vector of indices. Index 0 is the simplest choice, so RapidCheck
// shrinks a case by shrinking its indices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/case/case.h"

namespace sextant::oracle {

class CaseSpace {
 public:
  // `with_traps`: also masked inputs and long rows of whole vectors, which a suite needs to catch
  // some defects, but in which many properties say nothing.
  explicit CaseSpace(const Operation& operation, bool with_traps = false);
  // The number of choices for every place of the vector.
  const std::vector<size_t>& sizes() const { return sizes_; }
  // The case at these indices; empty if the combination of choices is not valid.
  std::optional<Case> At(const std::vector<size_t>& indices) const;

 private:
  std::string name_;
  std::vector<std::vector<std::string>> words_;  // per place: "base=2", ...
  std::vector<size_t> sizes_;
};

}  // namespace sextant::oracle
