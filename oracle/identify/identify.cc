#include "oracle/identify/identify.h"

#include <algorithm>
#include <cmath>

#include "oracle/identify/answers.h"
#include "oracle/identify/best_claims.h"
#include "oracle/identify/conformity.h"
#include "oracle/identify/key_heads.h"
#include "oracle/identify/measured_claim.h"
#include "oracle/identify/measured_frequencies.h"
#include "oracle/identify/search.h"
#include "oracle/identify/seen_rotation.h"
#include "oracle/rope/measured/numbers.h"

namespace sextant::oracle {
namespace {

// A claim and the recipe by which the answers conform to it; empty: none.
struct Found {
  Claim claim;
  std::string recipe;
  std::optional<MeasuredTable> table{};  // of measured frequencies
};

// The first claim that conforms by some recipe, as it is or rounded. The first claim and no recipe
// if none does.
Found Conforming(const std::vector<Claim>& claims, const std::vector<Exchange>& exchanges,
                 const IdentifyOptions& options) {
  constexpr size_t kMost = 16;                                // the others are no nearer
  const bool rotates = RotationIn(exchanges[0]).has_value();  // no row of its answers is nearly 0
  std::vector<Claim> near;
  for (const Claim& claim : claims) {
    const bool is_tried = near.size() < kMost || IsMeasured(claim);
    if (is_tried && !(rotates && IsFar(claim, exchanges))) near.push_back(claim);
  }
  for (const std::string& recipe : options.recipes) {
    const auto is_permitted = IsPermittedBy(recipe, exchanges, options.threads);
    for (const Claim& claim : near) {
      for (const Claim& rounded : RoundedClaims(claim, exchanges[0].c)) {
        options.pause();
        if (!is_permitted(rounded)) continue;
        const auto found = ConformityOf(rounded, exchanges, {recipe}, options.threads);
        if (!found.recipe.empty()) return {rounded, found.recipe};
      }
    }
  }
  return {claims.front(), ""};
}

// The same claim with numbers near its own by the narrowest of the recipes that compute each
// element with one rounding: these tell more about the numbers.
Found Narrowed(Found found, const std::vector<Exchange>& exchanges,
               const IdentifyOptions& options) {
  for (const std::string recipe : {"exact", "f32_compute"}) {
    if (recipe == found.recipe) break;
    options.pause();
    if (IsMeasured(found.claim)) {
      const auto measured = MeasuredBy(recipe, found.claim, exchanges, options.threads);
      if (measured && IsPermittedBy(recipe, exchanges, options.threads)(measured->claim))
        return {measured->claim, recipe, measured->table};
    } else if (const auto claim = PermittedNear(found.claim, exchanges, recipe, options.threads)) {
      return {*claim, recipe};
    }
  }
  return found;
}

// True for powers of two and numbers of two digits. A wider recipe permits wrong numbers, too, and
// only of these it is unlikely that a search ends at one by chance.
bool HasUsualNumbers(const Claim& claim, const Case& c) {
  return std::ranges::all_of(SlotsOf(claim, c), [](const NumberSlot& slot) {
    int exponent = 0;
    return slot.is_integer || HasFewDigits(slot.value, 2) ||
           std::abs(std::frexp(slot.value, &exponent)) == 0.5;
  });
}

// Another recipe than the standard ones may explain what no known form with plain numbers does:
// frequencies that are computed one from the other. The numbers are those that fit best, rounded as
// far as they fit about as well.
std::optional<Found> ByAnotherRecipe(const std::vector<Claim>& claims,
                                     const std::vector<Exchange>& exchanges,
                                     const IdentifyOptions& options) {
  constexpr double kAboutAsWell = 4;  // of the mean square: twice the differences
  constexpr int kMostTried = 2;
  const auto misfit_of = [&](const Claim& claim) {
    return MisfitOf(DifferencesOf(claim, exchanges));
  };
  int tried = 0;
  for (const Claim& claim : claims) {
    if (IsMeasured(claim) || IsFar(claim, exchanges)) continue;
    if (tried == kMostTried) break;
    const Claim fitting =
        RefinedClaims({claim}, exchanges, Numbers::kFirst, options.threads).front();
    const double least = misfit_of(fitting);
    for (const Claim& rounded : RoundedClaims(fitting, exchanges[0].c)) {
      if (!HasUsualNumbers(rounded, exchanges[0].c)) continue;
      if (!(misfit_of(rounded) <= kAboutAsWell * least)) continue;
      ++tried;
      const auto recipe =
          InferredRecipe(rounded, exchanges, options.recipes.front(), options.threads);
      if (recipe) return Found{rounded, *recipe};
      break;
    }
  }
  return std::nullopt;
}

void ShareNothing(const std::vector<size_t>& key_heads, std::vector<Exchange>& all) {
  for (Exchange& one : all) one = WithOwnKeyHeads(std::move(one), key_heads);
}

// The claim that conforms in its simplest form: with the texts of `asked` where these conform, and
// else, where that conforms, without the attribute.
Claim SimplestForm(const Found& found, const Claim& asked, const std::vector<Exchange>& exchanges,
                   int threads) {
  const std::vector<Exchange> weighed = Weighed(exchanges, found.claim, found.recipe, threads);
  const double most = (1 + LargestDifference(found.claim, weighed)) / 2;
  const auto is_well_within = [&](const Claim& claim) {
    return LargestDifference(claim, weighed) <= most;
  };
  const auto is_permitted = [&](const Claim& claim) { return IsPermitted(claim, weighed); };
  const auto simplified = [&](const Claim& claim, const Claim& simple) {
    return Simplified(claim, simple, exchanges[0].c, {is_permitted, is_well_within});
  };
  const auto conforms = [&](const Claim& claim) {
    return !ConformityOf(claim, exchanges, {found.recipe}, threads).recipe.empty();
  };
  const Claim simple = simplified(found.claim, asked);
  Claim unset = simple;
  for (auto& [attribute, text] : unset) {
    if (text != asked.at(attribute)) text.clear();
  }
  const Claim simplest = simplified(simple, unset);
  if (simplest != simple && conforms(simplest)) return simplest;
  return conforms(simple) ? simple : found.claim;
}

// The best claims, the one that was found first, its recipe, and its frequencies if it is measured.
struct BestFound {
  std::vector<Claim> best;
  std::string recipe;
  std::optional<MeasuredTable> table;
};

BestFound FindNew(const Claim& asked, const std::vector<Exchange>& exchanges,
                  const IdentifyOptions& options) {
  BestFound all{
      Searched(asked, exchanges, options.recipes.front(), options.threads, options.pause), {}, {}};
  Found found = Conforming(all.best, exchanges, options);
  options.pause();
  if (!found.recipe.empty()) {
    found = Narrowed(std::move(found), exchanges, options);
    const Claim simplest = SimplestForm(found, asked, exchanges, options.threads);
    if (std::exchange(found.claim, simplest) != simplest)
      found = Narrowed(std::move(found), exchanges, options);
    if (IsMeasured(found.claim) && !found.table) {
      const auto again = MeasuredBy(found.recipe, found.claim, exchanges, options.threads);
      if (again) found.table = again->table;
    }
  }
  if (found.recipe.empty() || !IsPlainClaim(found.claim, exchanges[0].c))
    found = ByAnotherRecipe(all.best, exchanges, options).value_or(found);
  all.best.insert(all.best.begin(), found.claim);
  all.recipe = found.recipe;
  all.table = found.table;
  return all;
}

// Measured frequencies, measured again by more exchanges: no others have to be looked for.
BestFound MeasureMore(BestFound all, const std::vector<Exchange>& exchanges,
                      const IdentifyOptions& options) {
  for (const std::string& recipe : {std::string("exact"), options.recipes.front()}) {
    options.pause();
    const auto measured = MeasuredBy(recipe, all.best.front(), exchanges, options.threads);
    if (!measured || !IsPermittedBy(recipe, exchanges, options.threads)(measured->claim)) continue;
    all.best.front() = measured->claim;
    all.table = measured->table;
    all.recipe = recipe;
    break;
  }
  return all;
}

// Whether larger questions confirm what was found: unseen, recipe and judged of `identity`.
void Verify(const BestFound& found, const std::vector<Exchange>& larger,
            const IdentifyOptions& options, Identity& identity) {
  identity.unseen = larger;
  std::vector<Exchange> all = identity.exchanges;
  all.insert(all.end(), larger.begin(), larger.end());
  const Claim& claim = found.best.front();
  std::vector<std::string> recipes = {found.recipe};
  if (IsMeasured(claim)) {  // the errors of the measured numbers are among those that are permitted
    recipes.insert(recipes.end(), {"f32_compute", options.recipes.front()});
  } else if (const auto narrowest =
                 InferredRecipe(claim, identity.exchanges, found.recipe, options.threads)) {
    recipes.insert(recipes.begin(), *narrowest);
  }
  const Conformity conformity = ConformityOf(claim, all, recipes, options.threads);
  identity.recipe = conformity.recipe;
  identity.judged = conformity.judged;
}

// What conforms besides what was found: numbers, words, and the nearest known form.
void AddOtherValues(BestFound found, const IdentifyOptions& options, Identity& identity) {
  std::vector<Claim>& best = found.best;
  const std::vector<Exchange> weighed =
      Weighed(identity.exchanges, best.front(), identity.recipe, options.threads);
  const auto is_permitted = [&](const Claim& claim) {
    options.pause();
    return IsPermitted(claim, weighed);
  };
  identity.numbers = RangesOf(best.front(), identity.c, is_permitted);
  identity.equal = EqualWords(best.front(), identity.c, is_permitted);
  if (IsMeasured(best.front())) {
    if (found.table) identity.numbers = RangesOf(*found.table);
    std::erase_if(best, IsMeasured);
    const auto nearest = std::ranges::min_element(best, {}, [&](const Claim& claim) {
      return MisfitOf(DifferencesOf(claim, identity.exchanges));
    });
    if (nearest != best.end()) identity.nearest = identity.c.With(WordsOf(*nearest));
  }
}

}  // namespace

bool IsPlainClaim(const Claim& claim, const Case& c) {
  return std::ranges::all_of(SlotsOf(claim, c),
                             [](const NumberSlot& slot) { return IsPlain(slot.value); });
}

Identity Identify(const std::vector<Case>& questions, const AskSubject& ask,
                  const IdentifyOptions& options) {
  constexpr int kMostTries = 4;
  Identity identity{.c = questions.at(0),
                    .exchanges = AnswersTo(questions, ask),
                    .unseen = {},
                    .key_heads = {},
                    .recipe = {},
                    .numbers = {},
                    .equal = {},
                    .nearest = {}};
  identity.key_heads = OtherKeyHeads(identity.exchanges);
  ShareNothing(identity.key_heads, identity.exchanges);
  const Claim asked = ClaimOf(questions[0], options.known);
  BestFound found;
  for (int nth = 1; nth <= kMostTries && identity.recipe.empty(); ++nth) {
    // The larger answers tell more than the first ones.
    std::ranges::move(std::exchange(identity.unseen, {}), std::back_inserter(identity.exchanges));
    const bool is_measured = nth > 1 && IsMeasured(found.best.front());
    found = is_measured ? MeasureMore(std::move(found), identity.exchanges, options)
                        : FindNew(asked, identity.exchanges, options);
    if (found.recipe.empty()) break;
    // Measured numbers must fit all answers, but are never those that further answers show.
    std::vector<Exchange> larger;
    if (!is_measured) larger = LargerAnswers(questions, ask, nth);
    ShareNothing(identity.key_heads, larger);
    Verify(found, larger, options, identity);
    if (larger.empty()) break;
  }
  identity.c = identity.c.With(WordsOf(found.best.front()));
  if (!identity.recipe.empty()) AddOtherValues(std::move(found), options, identity);
  return identity;
}

}  // namespace sextant::oracle
