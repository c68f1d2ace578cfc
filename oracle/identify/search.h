// The search for the claims that fit the answers of a black box.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "oracle/identify/misfit.h"

namespace sextant::oracle {

// True if the recipe permits every difference, if the claim is right (IsPermitted).
std::function<bool(const Claim&)> IsPermittedBy(const std::string& recipe,
                                                std::vector<Exchange> exchanges, int threads);

// The claim, or one with numbers near its own, few digits first, if the recipe permits it.
std::optional<Claim> PermittedNear(const Claim& claim, const std::vector<Exchange>& exchanges,
                                   const std::string& recipe, int threads);

// The best claims, a permitted one first. If a measured claim is permitted, nothing is searched.
// Otherwise the search begins with the first question and then takes in the others, one by one:
// their angles are larger, so that fewer wrong frequencies nearly fit. Last, the permitted errors
// of the best claim weigh the differences: those of some elements are much larger than of others.
// `pause` is called between the steps; what it throws ends the search.
std::vector<Claim> Searched(const Claim& asked, const std::vector<Exchange>& exchanges,
                            const std::string& recipe, int threads,
                            const std::function<void()>& pause);

}  // namespace sextant::oracle
