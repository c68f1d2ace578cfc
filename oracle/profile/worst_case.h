// Search for the cases of an operation in which a subject has the largest errors.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "oracle/profile/element_errors.h"
#include "oracle/subject/subject.h"

namespace sextant::oracle {

struct WorstSearch {
  std::string recipe;      // by which the permitted errors are
  size_t questions = 100;  // asked at most
  uint64_t seed = 1;       // the same seed asks the same questions of the same answers
  size_t keep = 5;         // cases
  ProveOptions prove{};
};

struct WorstCase {
  std::string case_line;  // to keep: it repeats the error
  std::string where;      // the element: "y[0,1,2]"
  double permitted = 0;   // |error| / permitted error
  double ulps = 0;        // |error| in ulps of the output
};

// The worst first; each has other inputs. The search changes the seed, the range of the inputs of
// integers (of a random order of magnitude, up to the largest of the case), and the range of the
// first input of real numbers; then it looks near the worst element so far.
std::vector<WorstCase> FindWorst(const Case& start, const Subject& subject,
                                 const WorstSearch& search);

}  // namespace sextant::oracle
