// Questions that show what a black box computes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "reference/case/case.h"

namespace sextant::oracle {

// The questions about an operation: small ones for a search, with positions that span more and more
// of 0 .. 131071, so that a frequency that fits the first ones nearly fits the next; and inputs at
// which an eps, a cap or a limit matters. `line` is the operation and the words that are known
// ("rope D=128"). Attributes without a default get their first choice. Throws Error for wrong
// words.
std::vector<Case> ProbesOf(const std::string& line);

// The keys of the words of a line: {"D"}.
std::set<std::string> KeysOf(const std::string& line);

// True for the question of ProbesOf in which all scores of an attention are nearly 0.
bool AsksForKeys(const Case& probe);

// A larger question with other inputs, for the nth verification of what was found, from 1.
Case LargerThan(const Case& probe, int nth);

}  // namespace sextant::oracle
