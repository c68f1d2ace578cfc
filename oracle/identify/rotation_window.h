// The channels that a rotation changes, and how they are paired.
#pragma once

#include <vector>

#include "oracle/identify/measured_rotation.h"
#include "oracle/rope/measured/measured_op.h"

namespace sextant::oracle {

// The channels that are rotated, and how they are paired.
struct ChannelWindow {
  Pairing pairing = Pairing::kHalf;
  size_t offset = 0, R = 0;
  PairOfChannels Pair(size_t k) const {
    const auto [first, second] = ChannelsOf(pairing, k, R);
    return {offset + first, offset + second};
  }
  std::vector<PairOfChannels> Pairs() const {
    std::vector<PairOfChannels> pairs;
    for (size_t k = 0; k < R / 2; ++k) pairs.push_back(Pair(k));
    return pairs;
  }
};

// The windows that contain all changed channels: all of the channels first, then the narrowest. If
// R or offset is known, only that. `c`: a question, with the attributes that are known.
std::vector<ChannelWindow> WindowsOf(const Claim& asked, const Case& c,
                                     const std::vector<Rotated>& all);

// The claim with pairing, R and offset of the window, as far as they are free.
Claim WithWindow(Claim claim, const ChannelWindow& window);

}  // namespace sextant::oracle
