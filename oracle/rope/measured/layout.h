// Which channels an answer pairs: the layout whose 2x2 maps are rotations.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/rope/measured/model.h"
#include "oracle/rope/measured/rows.h"

namespace sextant::oracle {

struct Layout {
  std::string name, sentence;  // of the difference from the right layout; empty for the right one
  std::vector<PairOfChannels> read, written;
  int64_t R = 0;  // the rotary width that it suggests
  Flow flow{};
  std::vector<RestChannel> rest{};
};

// The right layout if it is possible; else the possible layouts that are most like it, at most
// three. A layout is
// possible if every pair is rotated: all heads of a token by the same angle and gain, or, where
// there is one head, all pairs with the same gain; and if the other channels pass unchanged.
// If no layout is possible, the right channels with other sums (Flow): those with the fewest
// changes, which may be several. Empty if there is none.
std::vector<Layout> PossibleLayouts(const RotaryModel& right, int64_t R, const RotaryRows& rows,
                                    RotationErrors& errors);

// All pairs of the layout of a model at all tokens, their angles as in the forward direction;
// empty if some pair does not rotate.
std::optional<PairFits> FitsOf(const RotaryRows& rows, const RotaryModel& model,
                               RotationErrors& errors, ChannelSums sums = ChannelSums::kBoth);

}  // namespace sextant::oracle
