// Properties of operations whose outputs are scale and codes: of quantize, and of those that end
// with it.
#pragma once

#include <cmath>
#include <string>

#include "oracle/property/changed_inputs.h"
#include "oracle/property/property.h"
#include "reference/number/rounded/choice.h"

namespace sextant::oracle {

inline constexpr size_t kScale = 0, kCodes = 1;  // outputs

// True if the case has scales that are powers of two.
bool HasPowers(const Case& c);
// True if codes are judged by the answered scale itself: a power of two, or one of 8 bits.
bool HasExactScale(const Case& c, const Response& y);

// The largest code of a block is the limit: the scale wastes no range.
Property WholeRange();
// The other sign of these inputs gives the same scale and the other sign of each code. Does not
// apply where `applies` is false.
Property MirroredCodes(
    Names names, std::string sentence,
    bool (*applies)(const Case&) = [](const Case&) { return true; });
// Twice these inputs give twice the scale and the same codes, without least=.
Property ScaledCodes(
    Names names, std::string sentence,
    bool (*applies)(const Case&) = [](const Case&) { return true; });

}  // namespace sextant::oracle
