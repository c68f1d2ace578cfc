#include "oracle/identify/identify.h"

#include <algorithm>
#include <cmath>

#include "oracle/identify/conformity.h"
#include "oracle/identify/measured_list.h"
#include "oracle/identify/probe.h"
#include "oracle/identify/search.h"
#include "oracle/rope/measured/numbers.h"
#include "reference/case/choices.h"
#include "reference/case/draw.h"

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

// The same claim with numbers near its own by the narrowest of the recipes that compute each
// element with one rounding: these tell more about the numbers.
Found Narrowed(Found found, const std::vector<Exchange>& witnesses,
               const IdentifyOptions& options) {
  if (IsMeasured(found.claim)) return found;
  for (const std::string recipe : {"exact", "f32_compute"}) {
    if (recipe == found.recipe) break;
    options.pause();
    if (const auto claim = PermittedNear(found.claim, witnesses, recipe, options.threads))
      return {*claim, recipe};
  }
  return found;
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
    ranges.push_back({NameOf(slot, claim), slot.value, Reach(claim, slot, -1, conforms),
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

// True if somebody may have chosen all numbers of the claim.
bool IsPlainClaim(const Claim& claim, const Case& c) {
  return std::ranges::all_of(SlotsOf(claim, c),
                             [](const NumberSlot& slot) { return IsPlain(slot.value); });
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
                                     const std::vector<Exchange>& witnesses,
                                     const IdentifyOptions& options) {
  constexpr double kAboutAsWell = 4;  // of the mean square: twice the differences
  constexpr int kMostTried = 2;
  constexpr double kFar = 0.01;  // no recipe moves the answers by a tenth
  const auto misfit_of = [&](const Claim& claim) {
    return MisfitOf(DifferencesOf(claim, witnesses));
  };
  int tried = 0;
  for (const Claim& claim : claims) {
    if (IsMeasured(claim) || !(misfit_of(claim) < kFar)) continue;
    if (tried == kMostTried) break;
    const Claim fitting =
        RefinedClaims({claim}, witnesses, Numbers::kFirst, options.threads).front();
    const double least = misfit_of(fitting);
    for (const Claim& rounded : RoundedClaims(fitting, witnesses[0].c)) {
      if (!HasUsualNumbers(rounded, witnesses[0].c)) continue;
      if (!(misfit_of(rounded) <= kAboutAsWell * least)) continue;
      ++tried;
      const auto recipe =
          InferredRecipe(rounded, witnesses, options.recipes.front(), options.threads);
      if (recipe) return Found{rounded, *recipe};
      break;
    }
  }
  return std::nullopt;
}

// The answers to larger questions. A subject may answer only questions of one size.
std::vector<Exchange> LargerAnswers(const std::vector<Case>& questions, const AskSubject& ask,
                                    int nth) {
  std::vector<Case> larger;
  for (const Case& c : questions) larger.push_back(LargerThan(c, nth));
  std::string refusal;
  return AskAll(larger, ask, refusal);
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

// What the witnesses show, verified by larger questions: unseen and recipe of `identity`. The
// claims start with the one that was found.
std::vector<Claim> FindAndVerify(const std::vector<Case>& questions, const AskSubject& ask,
                                 const IdentifyOptions& options, int nth, Identity& identity) {
  const std::vector<Exchange>& witnesses = identity.witnesses;
  const int threads = options.threads;
  const Claim asked = ClaimOf(questions[0], options.known);
  std::vector<Claim> best =
      Searched(asked, witnesses, options.recipes.front(), threads, options.pause);
  Found found = Conforming(best, witnesses, options);
  options.pause();
  if (!found.recipe.empty()) found = Narrowed(std::move(found), witnesses, options);
  if (!found.recipe.empty()) found.claim = SimplestForm(found, asked, witnesses, threads);
  if (found.recipe.empty() || !IsPlainClaim(found.claim, questions[0]))
    found = ByAnotherRecipe(best, witnesses, options).value_or(found);
  if (!found.recipe.empty()) {
    identity.unseen = LargerAnswers(questions, ask, nth);
    std::vector<Exchange> all = witnesses;
    all.insert(all.end(), identity.unseen.begin(), identity.unseen.end());
    const auto narrowest = InferredRecipe(found.claim, witnesses, found.recipe, threads);
    const Conformity conformity =
        ConformityOf(found.claim, all, {narrowest.value_or(found.recipe), found.recipe}, threads);
    identity.recipe = conformity.recipe;
    identity.judged = conformity.judged;
  }
  best.insert(best.begin(), found.claim);
  return best;
}

}  // namespace

Identity Identify(const std::vector<Case>& questions, const AskSubject& ask,
                  const IdentifyOptions& options) {
  constexpr int kMostTries = 4;
  Identity identity{.c = questions.at(0),
                    .witnesses = AnswersTo(questions, ask),
                    .unseen = {},
                    .recipe = {},
                    .numbers = {},
                    .equal = {},
                    .nearest = {}};
  std::vector<Claim> best = FindAndVerify(questions, ask, options, 1, identity);
  // The larger answers tell more than the first ones.
  for (int nth = 2; nth <= kMostTries && identity.recipe.empty(); ++nth) {
    if (identity.unseen.empty()) break;
    std::ranges::move(std::exchange(identity.unseen, {}), std::back_inserter(identity.witnesses));
    best = FindAndVerify(questions, ask, options, nth, identity);
  }
  identity.c = identity.c.With(WordsOf(best.front()));
  if (identity.recipe.empty()) return identity;
  const std::vector<Exchange> weighed =
      Weighed(identity.witnesses, best.front(), identity.recipe, options.threads);
  const auto is_permitted = [&](const Claim& claim) {
    options.pause();
    return IsPermitted(claim, weighed);
  };
  identity.numbers = RangesOf(best.front(), identity.c, is_permitted);
  identity.equal = EqualWords(best.front(), identity.c, is_permitted);
  if (IsMeasured(best.front())) {
    std::erase_if(best, IsMeasured);
    const auto nearest = std::ranges::min_element(best, {}, [&](const Claim& claim) {
      return MisfitOf(DifferencesOf(claim, identity.witnesses));
    });
    if (nearest != best.end()) identity.nearest = identity.c.With(WordsOf(*nearest));
  }
  return identity;
}

}  // namespace sextant::oracle
