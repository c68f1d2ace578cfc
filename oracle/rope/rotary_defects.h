// Defects that all rotary embeddings share, from real issues and commits. In references,
// owner/repo#N is an issue or pull request on GitHub; owner/repo@sha is a commit.
#pragma once

#include <span>
#include <vector>

#include "oracle/rope/rotary_mutations.h"

namespace sextant::oracle {

// Defects of the rotation of channels: RopeRotate, RopeGiven, Rope, RopeComplex, RopeMatrix.
template <class Op>
std::vector<Defect> RotationDefects();

// Defects of frequencies: RopeFrequencies, RopeCosSin, Rope, RopeComplex, RopeMatrix.
template <class Op>
std::vector<Defect> FrequencyDefects();

// The mutations of RotationDefects and of FrequencyDefects, for operations with a mutated
// formula of their own.
std::span<const RotaryMutation> RotationMutations();
std::span<const RotaryMutation> FrequencyMutations();

// One defect per mutation. Formula is the mutated one, whose member `mutation` selects.
template <class Formula, class Wrapper = Wrapped<Formula, false>>
std::vector<Defect> MutationDefects(std::span<const RotaryMutation> mutations) {
  std::vector<Defect> defects;
  for (const RotaryMutation& mutation : mutations) {
    Formula formula;
    formula.mutation = mutation;
    defects.push_back(MutatedFormula<Formula, Wrapper>(std::string(mutation.name),
                                                       std::string(mutation.why), formula));
    defects.back().is_across_slices = mutation.row != nullptr;
  }
  return defects;
}

}  // namespace sextant::oracle
