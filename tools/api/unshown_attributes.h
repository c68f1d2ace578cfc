// Attributes that the inputs of a question do not show: another number in their place conforms too,
// so that no judgement with these inputs finds it wrong.
#pragma once

#include <string>
#include <vector>

#include "tools/api/judgement.h"

namespace sextant::tools {

// "eps=0.0001": for each attribute of the question that is one number other than 0, ten times it,
// or else a tenth, if an implementation of the recipe with that number conforms. `judge` is that of
// the question. Takes about as long as a judgement for each number, so nothing is said of a large
// question; and of a part nothing either, because the rest may show it.
std::vector<std::string> UnshownAttributes(const oracle::Judge& judge, const Judgement& judgement);

}  // namespace sextant::tools
