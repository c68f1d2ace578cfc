// The claims that fit answers best.
#pragma once

#include <functional>
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

// Searches from these claims: varies one attribute after the other in the few best claims, and
// refines their numbers, as long as the misfit becomes smaller: the mean square of the differences
// between the answers and what a claim gives in f64, in their units.
// The best comes first; of several that fit about as well, the shortest.
std::vector<Claim> BestClaims(const std::vector<Claim>& starts,
                              const std::vector<Exchange>& witnesses, int threads);

// The claim with its numbers rounded to so many significant decimal digits.
Claim RoundedTo(const Claim& claim, const Case& c, int digits);

// The same claim with simpler texts where these are as good: those of `simple`, and numbers with
// few digits.
Claim Simplified(const Claim& claim, const Claim& simple, const Case& c,
                 const std::function<bool(const Claim&)>& is_as_good);

}  // namespace sextant::oracle
