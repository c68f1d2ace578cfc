// The channels outside the rotated ones: what a subject writes there.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/rope/measured/model.h"
#include "oracle/rope/measured/rows.h"

namespace sextant::oracle {

struct OtherRestChannels {
  std::string name, sentence;
  std::vector<RestChannel> channels;
};

// How the channels that no pair of `written` has are made from x: from other channels, or times a
// number. Empty if there are none, if they are right, or if no simple rule gives them.
std::optional<OtherRestChannels> OtherRest(const std::vector<PairOfChannels>& written,
                                           const RotaryRows& rows, RotationErrors& errors);

}  // namespace sextant::oracle
