// The claims that fit answers best.
#pragma once

#include <functional>
#include <vector>

#include "oracle/identify/claim.h"
#include "oracle/identify/misfit.h"

namespace sextant::oracle {

// Searches from these claims: varies one attribute after the other in the few best claims, and
// refines their numbers, as long as the misfit becomes smaller and the best is not enough.
// The best comes first; of several that fit about as well, the shortest.
std::vector<Claim> BestClaims(const std::vector<Claim>& starts,
                              const std::vector<Exchange>& exchanges, int threads,
                              const std::function<bool(const Claim&)>& is_enough);

// Which numbers are fitted; the others keep values that are usual. The first of each attribute is
// the factor of a scaling. Contexts ("original_max_position_embeddings") and the limits of a ramp
// give the same frequencies in other combinations, so one of them must be kept.
enum class Numbers { kFirst, kFirstAndContext, kAllButContext, kAll };
// Each claim with the numbers near its own that fit best.
std::vector<Claim> RefinedClaims(std::vector<Claim> claims, const std::vector<Exchange>& exchanges,
                                 Numbers which, int threads);

// The claim with the numbers near its own whose largest difference from weighed exchanges is
// smallest: where roundings are large and one-sided, the least squares may not be permitted.
Claim LeastLargest(const Claim& claim, const std::vector<Exchange>& weighed);

// The claim with its numbers rounded to so many significant decimal digits, except those that are
// plain as they are (IsPlain).
Claim RoundedTo(const Claim& claim, const Case& c, int digits);

// The claim as it is and with its numbers rounded: what fits best fits the roundings of the
// answers, too. Numbers that somebody chose have few digits.
std::vector<Claim> RoundedClaims(const Claim& claim, const Case& c);

// When another claim is as good as one that was found. A number of few digits is probably meant.
// Any other must stay well within what the answers allow: its neighbours are as likely.
struct Goodness {
  std::function<bool(const Claim&)> is_as_good, is_well_within;
};
// The same claim with simpler texts where these are as good: those of `simple`, and numbers with
// few digits or powers of two.
Claim Simplified(const Claim& claim, const Claim& simple, const Case& c, const Goodness& goodness);

}  // namespace sextant::oracle
