// What does a black box compute? Asks questions, searches the attributes of the operation for the
// claim that fits the answers, and verifies it by judging.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "oracle/identify/answers.h"
#include "oracle/identify/claim.h"
#include "oracle/identify/conforming_values.h"

namespace sextant::oracle {

struct Identity {
  Case c;                           // the first question, with the attributes that were found
  std::vector<Exchange> exchanges;  // of the search, as they were asked
  std::vector<Exchange> unseen;     // larger ones, asked afterwards to verify what was found
  // The key head that each query head reads, if it is another than the formula says. All
  // exchanges then have a key head for every query head (key_heads.h); `c` does not.
  std::vector<size_t> key_heads{};
  // The narrowest recipe by which all answers conform; empty: they do not, and `c` only fits best.
  std::string recipe;
  size_t judged = 0;                 // elements that could have failed, in all answers
  std::vector<NumberRange> numbers;  // in the order of the attributes, or of measured pairs
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

// True if somebody may have chosen all numbers of the claim.
bool IsPlainClaim(const Claim& claim, const Case& c);

// Asks the questions, all of one operation with the same attributes. Throws as AnswersTo does.
Identity Identify(const std::vector<Case>& questions, const AskSubject& ask,
                  const IdentifyOptions& options);

}  // namespace sextant::oracle
