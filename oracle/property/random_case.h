// Random cases of an operation, from its list of choices.
// A case is a vector of indices; index 0 is the simplest choice, so smaller vectors are simpler
// cases and RapidCheck can shrink them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/case/case.h"

namespace sextant::oracle {

class CaseSpace {
 public:
  explicit CaseSpace(const Operation& operation);
  // How many choices every place of the vector has.
  const std::vector<size_t>& sizes() const { return sizes_; }
  // The case at these indices; empty where the choices do not go together.
  std::optional<Case> At(const std::vector<size_t>& indices) const;

 private:
  std::string name_;
  std::vector<std::vector<std::string>> words_;  // per place: "base=2", ...
  std::vector<size_t> sizes_;
};

}  // namespace sextant::oracle
