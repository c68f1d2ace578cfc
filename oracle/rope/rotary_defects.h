// Bugs that rotary embeddings have in common, from real threads and commits. In the references
// owner/repo#N is an issue or pull request on GitHub, owner/repo@sha a commit.
#pragma once

#include <span>
#include <vector>

#include "oracle/rope/mistaken.h"

namespace sextant::oracle {

// Of the rotation of channels: RopeRotate, RopeGiven, Rope, RopeComplex, RopeMatrix.
template <class Op>
std::vector<Defect> TurnDefects();

// Of frequencies: RopeFrequencies, Rope, RopeComplex, RopeMatrix.
template <class Op>
std::vector<Defect> FrequencyDefects();

// The mistakes behind them, for operations that have their own formula over a RotaryMistake:
// TurnDefects is one defect for each of the first list, FrequencyDefects for each of the second.
std::span<const RotaryMistake> TurnMistakes();
std::span<const RotaryMistake> FrequencyMistakes();

// One defect per mistake: Formula is the operation with a member `mistake` that says which.
template <class Formula>
std::vector<Defect> Planted(std::span<const RotaryMistake> mistakes) {
  std::vector<Defect> defects;
  for (const RotaryMistake& mistake : mistakes) {
    Formula formula;
    formula.mistake = mistake;
    defects.push_back(MutatedFormula(std::string(mistake.name), std::string(mistake.why), formula));
  }
  return defects;
}

}  // namespace sextant::oracle
