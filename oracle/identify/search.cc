#include "oracle/identify/search.h"

#include <algorithm>

#include "oracle/identify/best_claims.h"
#include "oracle/identify/mask_claims.h"
#include "oracle/identify/rotation_claims.h"
#include "reference/case/choices.h"

namespace sextant::oracle {
namespace {

constexpr size_t kMostCombinations = 256;  // from which a search begins

// Looks for a permitted claim among the first ones, as they are, and then with numbers near theirs.
// The other claims stay: they are the nearest known forms, the nearest first if none is permitted.
void PutPermittedFirst(std::vector<Claim>& claims, const std::vector<Exchange>& exchanges,
                       const std::string& recipe, int threads) {
  constexpr size_t kMost = 64, kMostRefined = 8;
  const auto is_permitted = IsPermittedBy(recipe, exchanges, threads);
  const auto end = claims.begin() + static_cast<std::ptrdiff_t>(std::min(claims.size(), kMost));
  const auto at = std::find_if(claims.begin(), end, [&](const Claim& claim) {
    return !IsFar(claim, exchanges) && is_permitted(claim);
  });
  if (at != end) {
    std::rotate(claims.begin(), at, at + 1);
    return;
  }
  for (size_t i = 0; i < std::min(claims.size(), kMostRefined); ++i) {
    if (const auto permitted = PermittedNear(claims[i], exchanges, recipe, threads)) {
      claims.insert(claims.begin(), *permitted);
      return;
    }
  }
  std::ranges::stable_sort(
      claims, {}, [&](const Claim& claim) { return MisfitOf(DifferencesOf(claim, exchanges)); });
}

// The claim, and with every length of a sequence that the operation lists: a configuration may have
// one list of frequencies for short ones, and another for long ones.
std::vector<Claim> WithLengths(const Claim& asked, const Case& c) {
  std::vector<Claim> claims = {asked};
  for (const Choices& choices : ChoicesOf(c.info())) {
    if (choices.key != "seq_len" || !asked.contains(choices.key)) continue;
    for (const std::string& text : choices.texts) {
      claims.push_back(asked);
      claims.back().at(choices.key) = text;
    }
  }
  return claims;
}

// The best claims if the attributes of `known` are those.
std::vector<Claim> WithKnown(const Claim& known, Claim asked, std::vector<Exchange> exchanges,
                             const std::string& recipe, int threads,
                             const std::function<void()>& pause) {
  for (const auto& [attribute, text] : known) asked.erase(attribute);
  for (Exchange& exchange : exchanges) exchange.c = exchange.c.With(WordsOf(known));
  std::vector<Claim> claims = Searched(asked, exchanges, recipe, threads, pause);
  for (Claim& claim : claims) claim.insert(known.begin(), known.end());
  return claims;
}

}  // namespace

std::function<bool(const Claim&)> IsPermittedBy(const std::string& recipe,
                                                std::vector<Exchange> exchanges, int threads) {
  return [=](const Claim& claim) {
    try {
      const auto first = Weighed({exchanges[0]}, claim, recipe, threads);
      return LargestDifference(claim, first) <= 1 &&  // most claims fail there, and at less cost
             IsPermitted(claim, Weighed(exchanges, claim, recipe, threads));
    } catch (const Error&) {
      return false;  // no valid combination of attributes
    }
  };
}

std::optional<Claim> PermittedNear(const Claim& claim, const std::vector<Exchange>& exchanges,
                                   const std::string& recipe, int threads) {
  constexpr double kFar = 64;  // in permitted errors: no other numbers nearby are permitted
  const auto is_permitted = IsPermittedBy(recipe, exchanges, threads);
  const auto nearly = [&](const Claim& other) -> std::optional<Claim> {
    const std::vector<Claim> rounded = RoundedClaims(other, exchanges[0].c);
    const auto at = std::ranges::find_if(rounded, is_permitted);
    return at == rounded.end() ? std::nullopt : std::optional(*at);
  };
  if (auto found = nearly(claim)) return found;
  try {
    const std::vector<Exchange> weighed = Weighed(exchanges, claim, recipe, threads);
    Claim refined = claim;
    for (const Numbers which : {Numbers::kFirst, Numbers::kAll}) {
      refined = RefinedClaims({refined}, weighed, which, threads).front();
      if (auto found = nearly(refined)) return found;
      if (LargestDifference(refined, weighed) > kFar) return std::nullopt;
    }
    return nearly(LeastLargest(refined, weighed));
  } catch (const Error&) {
    return std::nullopt;  // no valid combination of attributes
  }
}

std::vector<Claim> Searched(const Claim& asked, const std::vector<Exchange>& exchanges,
                            const std::string& recipe, int threads,
                            const std::function<void()>& pause) {
  const auto is_permitted = IsPermittedBy(recipe, exchanges, threads);
  for (const Claim& claim : WithLengths(asked, exchanges[0].c)) {
    if (is_permitted(claim)) return {claim};
  }
  if (const auto mask = MaskClaim(asked, exchanges))
    return WithKnown(*mask, asked, exchanges, recipe, threads, pause);
  std::vector<Claim> best = RotationClaims(asked, exchanges, recipe, threads);
  PutPermittedFirst(best, exchanges, recipe, threads);
  if (!best.empty()) return best;  // a search finds nothing that was not measured
  best = CombinationsOf(asked, exchanges[0].c);
  if (best.size() > kMostCombinations) best.clear();
  best.push_back(asked);
  std::vector<Exchange> seen;
  std::optional<Claim> permitted;
  const auto is_enough = [&](const Claim& claim) {
    pause();
    permitted = PermittedNear(claim, seen, recipe, threads);
    return permitted.has_value();
  };
  const auto search = [&](const std::vector<Exchange>& in) {
    if (!is_enough(best.front())) best = BestClaims(best, in, threads, is_enough);
    if (permitted) best.insert(best.begin(), *permitted);
  };
  for (const Exchange& exchange : exchanges) {
    seen.push_back(exchange);
    search(seen);
  }
  if (!permitted) search(Weighed(exchanges, best.front(), recipe, threads));
  const auto is_invalid = [&](const Claim& claim) {
    return DifferencesOf(claim, exchanges).empty();
  };
  best.erase(std::remove_if(best.begin() + 1, best.end(), is_invalid), best.end());
  return best;
}

}  // namespace sextant::oracle
