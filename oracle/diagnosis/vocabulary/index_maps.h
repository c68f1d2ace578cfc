// Index maps: an index (a position, a token, a distance) that acts as another one. Each is a
// function with one number, the numbers that implementations use, those that explain what is seen,
// and a sentence. Names of causes are those of what uses a map.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace sextant::oracle {

// An index, and the one as which it is seen to act.
struct ActingIndex {
  double right, as;
};

struct IndexMap {
  const char* name;      // "clamped"
  const char* sentence;  // "@ above # act as #": @ are the indices, # is the number
  double (*of)(double index, double number);
  // The numbers that implementations use, the most likely first; of some maps, those of `indices`.
  std::vector<double> (*usual)(const std::vector<double>& indices) = nullptr;
  // All numbers by which some wrong indices, at least one, may act so, the most likely first. Some
  // look at the first index alone, so that the others have to be compared.
  std::vector<double> (*fitted)(const std::vector<ActingIndex>& wrong) = nullptr;

  // "positions above 32767 act as 32767"
  std::string Sentence(const std::string& indices, double number) const;
};

extern const IndexMap kShifted, kClamped, kClampedBelow, kClampedBeyond, kConstant, kSubtracted,
    kWrapped, kDivided, kMultiplied, kRounded, kRoundedDown, kRoundedUp, kRoundedToBits, kCutToBits;

// A map with the name of its cause.
using NamedIndexMap = std::pair<const IndexMap*, std::string>;

}  // namespace sextant::oracle
