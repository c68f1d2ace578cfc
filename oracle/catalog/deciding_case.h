// Which case would tell apart defects that predict the same answer: a mask of a single query is the
// same as no mask, two queries decide.
#pragma once

#include <string>
#include <vector>

#include "oracle/defect/defect.h"

namespace sextant::oracle {

// A change of one extent of the case, as a word of a case line ("S=2"), and how many different
// answers the defects predict with it. The word is empty if these are no more with any of a few
// small changes than in the case itself.
struct Decision {
  std::string word;
  size_t answers = 1;
};
Decision DecidingWord(const Case& c, const Recipe& recipe,
                      const std::vector<const Defect*>& defects);

}  // namespace sextant::oracle
