// How far a claim is from the answers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "oracle/identify/claim.h"
#include "reference/number/tensor/tensor.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// A question that was asked, and its answer.
struct Exchange {
  Case c;
  Tensors inputs, answer;
  // The unit of each difference, one tensor per output of the signature: the errors that a recipe
  // permits. Empty: the root mean square of each row of the answer.
  std::vector<PermittedTensor> units{};
};

// The largest difference in units of a row, and in permitted errors: elements that are so wrong are
// equally wrong, and so is a NaN.
inline constexpr double kMostOfRow = 2, kMostPermitted = 1e4;

// The differences of all elements between the answers and what the claim gives in f64, in their
// units. Empty if the claim is not valid.
std::vector<double> DifferencesOf(const Claim& claim, std::span<const Exchange> exchanges);

// Their mean square; infinite if there are none.
double MisfitOf(const std::vector<double>& differences);

// True if a claim is so far from the answers that no recipe explains it: none moves them by a
// tenth.
bool IsFar(const Claim& claim, const std::vector<Exchange>& exchanges);

// The largest of their magnitudes; infinite if there are none.
double LargestDifference(const Claim& claim, std::span<const Exchange> exchanges);

// The exchanges with the errors that the recipe permits if the claim is right.
std::vector<Exchange> Weighed(std::vector<Exchange> exchanges, const Claim& claim,
                              const std::string& recipe, int threads);

// True if every difference from weighed exchanges is permitted, and most numbers of the answers are
// limited: a claim whose numbers overflow permits everything. Nearly a verdict, but much faster:
// near the claim by which they are weighed, permitted errors hardly change.
bool IsPermitted(const Claim& claim, const std::vector<Exchange>& weighed);

}  // namespace sextant::oracle
