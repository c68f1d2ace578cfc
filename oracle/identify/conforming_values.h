// Other values of the attributes of a claim that conform, too: the answers tell no more.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "oracle/identify/claim.h"
#include "oracle/identify/frequency_claims.h"

namespace sextant::oracle {

// A number of the claim, and the numbers around it that conform, too.
struct NumberRange {
  std::string attribute;
  double value;
  double least, most;
};
// In the order of the attributes; none for lists of measured numbers.
std::vector<NumberRange> RangesOf(const Claim& claim, const Case& c,
                                  const std::function<bool(const Claim&)>& conforms);
// The error bars of measured frequencies: "scaling.inv_freq[3]".
std::vector<NumberRange> RangesOf(const MeasuredTable& table);

// The names and listed choices of other attribute values that conform, too: "window=[18,-1]".
std::vector<std::string> EqualWords(const Claim& claim, const Case& c,
                                    const std::function<bool(const Claim&)>& conforms);

}  // namespace sextant::oracle
