// Names for wrong positions: the position of a token as a function of the right one, of its index
// and of the other tokens.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace sextant::oracle {

// What was measured along one axis of positions.
struct MeasuredPositions {
  std::vector<double> right;     // [B,S]
  size_t length = 0;             // S
  std::vector<size_t> token_of;  // the index in [B,S] of each measured token
  // The integers that fit a measured token; empty if there are none or too many.
  std::vector<std::vector<double>> candidates;
  std::function<bool(size_t t, double position)> acts_as;
  double most = 0;  // candidates are at most that large
  double bits = 0;  // of information in the angles of a token; accidents are rare from
                    // log2(2 most) on
};

struct PositionForm {
  std::string name, sentence;
  std::vector<double> position;  // [B,S]
};

// The simplest functions that give the position of every measured token: several if they are
// equally simple. Empty if there is none, or if every token is at its right position.
std::vector<PositionForm> NamePositions(const MeasuredPositions& seen);
// The position of each token by itself. Empty if there is not one for each.
std::vector<PositionForm> ListPositions(const MeasuredPositions& seen);

}  // namespace sextant::oracle
