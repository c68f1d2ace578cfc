// What does a black box compute? Asks questions, searches the attributes of the operation for the
// claim that fits the answers, and verifies it by judging.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "oracle/identify/claim.h"
#include "oracle/identify/fit.h"
#include "oracle/subject/subject.h"

namespace sextant::oracle {

// A number of the claim, and the numbers around it that conform, too: the answers tell no more.
struct NumberRange {
  std::string attribute;
  double value;
  double least, most;
};

struct Identity {
  Case c;                           // the first question, with the attributes that were found
  std::vector<Exchange> witnesses;  // the questions of the search, as they were asked
  std::vector<Exchange> unseen;     // larger ones, asked afterwards to verify what was found
  // The narrowest recipe by which all answers conform; empty: they do not, and `c` only fits best.
  std::string recipe;
  size_t judged = 0;                 // elements that could have failed, in all answers
  std::vector<NumberRange> numbers;  // in the order of the attributes
  std::vector<std::string> equal;    // words with which the answers conform, too: "window=[18,-1]"
  // If `c` has measured frequencies, because no known form gives them: the nearest known form.
  std::optional<Case> nearest;
};

struct IdentifyOptions {
  std::vector<std::string> recipes;     // tried in this order
  std::set<std::string> known;          // attributes that are not varied
  int threads = 0;                      // 0: all cores
  std::function<void()> pause = [] {};  // called between the steps; what it throws ends the search
};

// Asks the questions, all of one operation with the same attributes. Throws Error if the subject
// answers none, or if no answer has an element.
using AskSubject = std::function<Answer(const Case&, const Tensors& inputs)>;
Identity Identify(const std::vector<Case>& questions, const AskSubject& ask,
                  const IdentifyOptions& options);

}  // namespace sextant::oracle
