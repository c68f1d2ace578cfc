// Bugs that rotary embeddings have in common, from real threads and commits. In the references
// owner/repo#N is an issue or pull request on GitHub, owner/repo@sha a commit.
#pragma once

#include <span>
#include <vector>

#include "oracle/rope/rotary_mutants.h"

namespace sextant::oracle {

// Of the rotation of channels: RopeRotate, RopeGiven, Rope, RopeComplex, RopeMatrix.
template <class Op>
std::vector<Defect> RotationDefects();

// Of frequencies: RopeFrequencies, Rope, RopeComplex, RopeMatrix.
template <class Op>
std::vector<Defect> FrequencyDefects();

// The mutations behind them, for operations that have their own formula over a RotaryMutation:
// RotationDefects is one defect for each of the first list, FrequencyDefects for each of the
// second.
std::span<const RotaryMutation> RotationMutations();
std::span<const RotaryMutation> FrequencyMutations();

// One defect per mutation: Formula is the operation with a member `mutation` that says which.
template <class Formula>
std::vector<Defect> MutantDefects(std::span<const RotaryMutation> mutations) {
  std::vector<Defect> defects;
  for (const RotaryMutation& mutation : mutations) {
    Formula formula;
    formula.mutation = mutation;
    defects.push_back(
        MutatedFormula(std::string(mutation.name), std::string(mutation.why), formula));
  }
  return defects;
}

}  // namespace sextant::oracle
