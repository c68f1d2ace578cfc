// Cases with fresh inputs, for subjects that know the committed ones.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tools/api/selection.h"

namespace sextant::tools {

// Some 32 bits of the system, another number at each call.
uint64_t RandomSeed();

struct FreshCases {
  uint64_t seed = 0;
  std::map<std::string, std::string> committed{};  // by the line of its fresh case, its own line
  bool adversarial = false;  // only fresh cases, and questions around them (adversarial.h)
  size_t questions = 0;      // of them
};

// Adds to the cases, after each one, the same case with a seed that follows from `seed` and its
// own, so that the line of a fresh case repeats it. A case without a number that a seed draws has
// no fresh one, nor has one whose fresh case is there already.
FreshCases AddFreshCases(uint64_t seed, std::vector<Selected>& selected);

// The same without the cases that have a fresh one.
FreshCases TakeFreshCases(uint64_t seed, std::vector<Selected>& selected);

}  // namespace sextant::tools
