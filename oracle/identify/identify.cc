#include "oracle/identify/identify.h"

#include <algorithm>
#include <cmath>

#include "oracle/identify/conformity.h"
#include "oracle/identify/probe.h"
#include "oracle/identify/rotation_claims.h"
#include "reference/base/parallel.h"
#include "reference/case/choices.h"
#include "reference/case/draw.h"
#include "reference/rope/scaling_lists.h"

namespace sextant::oracle {
namespace {

bool HasElement(const Exchange& exchange) {
  return std::ranges::any_of(
      exchange.answer, [](const NamedTensor& tensor) { return CountOf(tensor.values.shape) > 0; });
}

// The questions that are answered. `refusal` gets the message of the first that is not.
std::vector<Exchange> AskAll(const std::vector<Case>& questions, const AskSubject& ask,
                             std::string& refusal) {
  std::vector<Exchange> witnesses;
  for (const Case& c : questions) {
    Tensors inputs = DrawInputs(c);
    Answer answer = ask(c, inputs);
    if (answer.status == Answer::Status::kAnswered) {
      witnesses.push_back({c, std::move(inputs), std::move(answer.outputs)});
    } else if (refusal.empty()) {
      refusal = answer.message.empty() ? "without a reason" : answer.message;
    }
  }
  return witnesses;
}

// True if the recipe permits every difference, if the claim is right.
std::function<bool(const Claim&)> IsPermittedBy(const std::string& recipe,
                                                std::vector<Exchange> witnesses, int threads) {
  return [=](const Claim& claim) {
    try {
      return IsPermitted(claim, Weighed(witnesses, claim, recipe, threads));
    } catch (const Error&) {
      return false;  // no valid combination of attributes
    }
  };
}

// The claim as it is and with its numbers rounded: what fits best fits the roundings of the
// answers, too. Numbers that somebody chose have few digits.
std::vector<Claim> RoundedClaims(const Claim& claim, const Case& c) {
  std::set<Claim> seen;
  std::vector<Claim> all;
  for (const int digits : {1, 2, 3, 17, 4, 5, 6, 7, 8}) {
    Claim rounded = RoundedTo(claim, c, digits);
    if (seen.insert(rounded).second) all.push_back(std::move(rounded));
  }
  return all;
}

// The claim with the first numbers of its attributes as they fit best, if each difference counts as
// the recipe permits it.
Claim Reweighed(const Claim& claim, const std::vector<Exchange>& witnesses,
                const std::string& recipe, int threads) {
  try {
    const std::vector<Exchange> weighed = Weighed(witnesses, claim, recipe, threads);
    return RefinedClaims({claim}, weighed, Numbers::kFirst, threads).front();
  } catch (const Error&) {
    return claim;  // no valid combination of attributes
  }
}

// The best claims. If a start is permitted, it is the only one. Otherwise the search begins with
// the first question and then takes in the others, one by one: their angles are larger, so that
// fewer wrong frequencies nearly fit. Last, the permitted errors of the best claim weigh the
// differences: those of some elements are much larger than of others.
std::vector<Claim> Searched(const Claim& asked, const std::vector<Exchange>& witnesses,
                            const std::string& recipe, int threads) {
  const auto is_permitted = IsPermittedBy(recipe, witnesses, threads);
  if (is_permitted(asked)) return {asked};
  std::vector<Claim> best = RotationClaims(asked, witnesses, recipe, threads);
  for (auto claim = best.begin(); claim != best.end(); ++claim) {
    options.pause();
    if (!is_permitted(*claim)) *claim = Reweighed(*claim, witnesses, recipe, threads);
    const std::vector<Claim> rounded = RoundedClaims(*claim, witnesses[0].c);
    const auto at = std::ranges::find_if(rounded, is_permitted);
    if (at == rounded.end()) continue;
    *claim = *at;
    std::rotate(best.begin(), claim, claim + 1);  // the others are the nearest known forms
    return best;
  }
  best.push_back(asked);
  for (size_t count = 1; count <= witnesses.size(); ++count) {
    options.pause();
    const std::vector<Exchange> seen(witnesses.begin(),
                                     witnesses.begin() + static_cast<ptrdiff_t>(count));
    const auto is_enough = IsPermittedBy(recipe, seen, threads);
    if (count == 1 || !is_enough(best.front())) best = BestClaims(best, seen, threads, is_enough);
  }
  if (is_permitted(best.front())) return best;
  options.pause();
  const std::vector<Exchange> weighed = Weighed(witnesses, best.front(), recipe, threads);
  best = BestClaims(best, weighed, threads, is_permitted);
  if (std::ranges::none_of(best, is_permitted))
    InParallel(best.size(), threads, [&](size_t i) { best[i] = LeastLargest(best[i], weighed); });
  return best;
}

// True if the claim has the frequencies as measured numbers, so that it always fits.
bool IsMeasured(const Claim& claim) {
  const auto at = claim.find("scaling");
  return at != claim.end() && at->second.starts_with(ExplicitScaling::kName);
}

// A claim and the recipe by which the answers conform to it; empty: none.
struct Found {
  Claim claim;
  std::string recipe;
};

// The first claim that conforms by some recipe, as it is or rounded. The first claim and no recipe
// if none does.
Found Conforming(const std::vector<Claim>& claims, const std::vector<Exchange>& witnesses,
                 const IdentifyOptions& options) {
  for (const std::string& recipe : options.recipes) {
    const auto is_permitted = IsPermittedBy(recipe, witnesses, options.threads);
    for (const Claim& claim : claims) {
      for (const Claim& rounded : RoundedClaims(claim, witnesses[0].c)) {
        options.pause();
        if (!is_permitted(rounded)) continue;
        const auto found = ConformityOf(rounded, witnesses, {recipe}, options.threads);
        if (!found.recipe.empty()) return {rounded, found.recipe};
      }
    }
  }
  return {claims.front(), ""};
}

// How far the number can move in one direction (its factor is 2^-step or 2^step) before an answer
// fails: at most a factor of 2^10.
double Reach(const Claim& claim, const NumberSlot& slot, double direction,
             const std::function<bool(const Claim&)>& conforms) {
  const auto moved = [&](double step) { return slot.value * std::exp2(direction * step); };
  double good = 0, bad = 0x1p-40;
  while (bad < 10 && conforms(WithNumber(claim, slot, moved(bad)))) {
    good = bad;
    bad *= 4;
  }
  if (bad >= 10) return direction < 0 ? 0 : kInfinity;
  for (int i = 0; i < 6; ++i) {
    const double middle = (good + bad) / 2;
    (conforms(WithNumber(claim, slot, moved(middle))) ? good : bad) = middle;
  }
  return moved(good);
}

std::vector<NumberRange> RangesOf(const Claim& claim, const Case& c,
                                  const std::function<bool(const Claim&)>& conforms) {
  std::vector<NumberRange> ranges;
  const std::vector<NumberSlot> slots = SlotsOf(claim, c);
  if (slots.size() > kMostFitted) return ranges;
  for (const NumberSlot& slot : slots) {
    if (slot.is_integer || slot.value == 0) continue;
    ranges.push_back({slot.attribute, slot.value, Reach(claim, slot, -1, conforms),
                      Reach(claim, slot, 1, conforms)});
  }
  return ranges;
}

// The names and listed choices of other attribute values that conform, too.
std::vector<std::string> EqualWords(const Claim& claim, const Case& c,
                                    const std::function<bool(const Claim&)>& conforms) {
  std::vector<std::string> words;
  const auto choices = ChoicesOf(c.info());
  for (const Attribute& attribute : c.operation().Attributes()) {
    if (!claim.contains(attribute.name) || attribute.dimension) continue;
    std::vector<std::string> texts(attribute.values.begin(), attribute.values.end());
    const auto at = std::ranges::find(choices, attribute.name, &Choices::key);
    if (texts.empty() && at != choices.end()) texts = at->texts;
    for (const std::string& text : texts) {
      Claim other = claim;
      if (std::exchange(other.at(attribute.name), text) == text) continue;
      if (conforms(other)) words.push_back(attribute.name + "=" + text);
    }
  }
  return words;
}

// Another recipe than the standard ones may explain what a known form does not: frequencies that
// are computed one from the other. Its numbers are then rounded as far as they fit about as well.
std::optional<Found> ByAnotherRecipe(const std::vector<Claim>& claims,
                                     const std::vector<Exchange>& witnesses,
                                     const IdentifyOptions& options) {
  constexpr double kAboutAsWell = 4;  // of the mean square: twice the differences
  const auto nearest = std::ranges::find_if_not(claims, IsMeasured);
  if (nearest == claims.end()) return std::nullopt;
  const auto misfit_of = [&](const Claim& claim) {
    return MisfitOf(DifferencesOf(claim, witnesses));
  };
  const double least = misfit_of(*nearest);
  for (int digits = 1; digits <= 8; ++digits) {
    const Claim rounded = RoundedTo(*nearest, witnesses[0].c, digits);
    if (!(misfit_of(rounded) <= kAboutAsWell * least)) continue;
    const auto recipe =
        InferredRecipe(rounded, witnesses, options.recipes.front(), options.threads);
    return recipe ? std::optional<Found>({rounded, *recipe}) : std::nullopt;
  }
  return std::nullopt;
}

// Asks larger questions. Their answers must conform to the claim, too, by the first of the recipes
// by which they do.
void Verify(const Claim& claim, const std::vector<std::string>& recipes, const AskSubject& ask,
            int threads, Identity& identity) {
  std::vector<Case> larger;
  for (const Exchange& witness : identity.witnesses) larger.push_back(LargerThan(witness.c));
  std::string refusal;  // a subject may answer only questions of one size
  identity.unseen = AskAll(larger, ask, refusal);
  std::vector<Exchange> all = identity.witnesses;
  all.insert(all.end(), identity.unseen.begin(), identity.unseen.end());
  const Conformity found = ConformityOf(claim, all, recipes, threads);
  identity.recipe = found.recipe;
  identity.judged = found.judged;
}

// The questions that are answered. Throws Error if there are none, or no answer has an element.
std::vector<Exchange> AnswersTo(const std::vector<Case>& questions, const AskSubject& ask) {
  std::string refusal;
  std::vector<Exchange> witnesses = AskAll(questions, ask, refusal);
  if (witnesses.empty())
    throw Error("the subject does not answer ", questions[0].ToString(), ": ", refusal,
                "; expected words with which it does (D=128, dtype=bf16)");
  if (std::ranges::none_of(witnesses, HasElement))
    throw Error(questions[0].ToString(), " has no element, expected larger dimensions");
  return witnesses;
}

// The claim that conforms in its simplest form.
Claim SimplestForm(const Found& found, const Claim& asked, const std::vector<Exchange>& witnesses,
                   int threads) {
  const std::vector<Exchange> weighed = Weighed(witnesses, found.claim, found.recipe, threads);
  const double most = (1 + LargestDifference(found.claim, weighed)) / 2;
  const auto is_well_within = [&](const Claim& claim) {
    return LargestDifference(claim, weighed) <= most;
  };
  const auto is_permitted = [&](const Claim& claim) { return IsPermitted(claim, weighed); };
  Claim simple = Simplified(found.claim, asked, witnesses[0].c, {is_permitted, is_well_within});
  const auto conformity = ConformityOf(simple, witnesses, {found.recipe}, threads);
  return conformity.recipe.empty() ? found.claim : simple;
}

}  // namespace

Identity Identify(const std::vector<Case>& questions, const AskSubject& ask,
                  const IdentifyOptions& options) {
  Identity identity{.c = questions.at(0),
                    .witnesses = AnswersTo(questions, ask),
                    .unseen = {},
                    .recipe = {},
                    .numbers = {},
                    .equal = {},
                    .nearest = {}};
  const std::vector<Exchange>& witnesses = identity.witnesses;
  const int threads = options.threads;
  const Claim asked = ClaimOf(identity.c, options.known);
  const std::vector<Claim> best = Searched(asked, witnesses, options.recipes.front(), options);
  Found found = Conforming(best, witnesses, options);
  options.pause();
  if (found.recipe.empty() || IsMeasured(found.claim))
    found = ByAnotherRecipe(best, witnesses, options).value_or(found);
  if (!found.recipe.empty()) {
    found.claim = SimplestForm(found, asked, witnesses, threads);
    options.pause();
    const auto narrowest = InferredRecipe(found.claim, witnesses, found.recipe, threads);
    Verify(found.claim, {narrowest.value_or(found.recipe), found.recipe}, ask, threads, identity);
  }
  identity.c = identity.c.With(WordsOf(found.claim));
  if (identity.recipe.empty()) return identity;
  const std::vector<Exchange> weighed = Weighed(witnesses, found.claim, found.recipe, threads);
  const auto is_permitted = [&](const Claim& claim) {
    options.pause();
    return IsPermitted(claim, weighed);
  };
  identity.numbers = RangesOf(found.claim, identity.c, is_permitted);
  identity.equal = EqualWords(found.claim, identity.c, is_permitted);
  const auto nearest = std::ranges::find_if_not(best, IsMeasured);
  if (IsMeasured(found.claim) && nearest != best.end())
    identity.nearest = identity.c.With(WordsOf(*nearest));
  return identity;
}

}  // namespace sextant::oracle
