#include "oracle/identify/identify.h"

#include <algorithm>
#include <cmath>

#include "oracle/identify/probe.h"
#include "oracle/judge/judge.h"
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

// The witnesses with the errors that the recipe permits if the claim is right.
std::vector<Exchange> Weighed(std::vector<Exchange> witnesses, const Claim& claim,
                              const std::string& recipe) {
  for (Exchange& witness : witnesses) {
    const Case c = witness.c.With(WordsOf(claim));
    witness.units = PermittedErrors(c, witness.inputs, ParseRecipe(recipe, c.dtype()));
  }
  return witnesses;
}

// The best claims. The search begins with the first question and then takes in the others, one by
// one: their angles are larger, so that fewer wrong frequencies nearly fit. Last, the permitted
// errors of the best claim weigh the differences: those of some elements are much larger than of
// others.
std::vector<Claim> Searched(const Claim& start, const std::vector<Exchange>& witnesses,
                            const std::string& recipe, const IdentifyOptions& options) {
  std::vector<Claim> best = {start};
  for (size_t count = 1; count <= witnesses.size(); ++count) {
    options.pause();
    const auto end = witnesses.begin() + static_cast<ptrdiff_t>(count);
    best = BestClaims(best, {witnesses.begin(), end}, options.threads);
  }
  options.pause();
  return BestClaims(best, Weighed(witnesses, best.front(), recipe), options.threads);
}

bool Conforms(const Claim& claim, const std::vector<Exchange>& witnesses, const std::string& recipe,
              int threads) {
  return !ConformityOf(claim, witnesses, {recipe}, threads).recipe.empty();
}

// The first claim that conforms by some recipe, as it is or with its numbers rounded: what fits
// best fits the roundings of the answers, too. The first claim and no recipe if none does.
std::pair<Claim, std::string> Conforming(const std::vector<Claim>& claims,
                                         const std::vector<Exchange>& witnesses,
                                         const IdentifyOptions& options) {
  constexpr int kAll = 17;
  for (const Claim& claim : claims) {
    for (const int digits : {kAll, 1, 2, 3, 4, 5, 6, 7, 8}) {
      options.pause();
      const Claim rounded = RoundedTo(claim, witnesses[0].c, digits);
      const auto found = ConformityOf(rounded, witnesses, options.recipes, options.threads);
      if (!found.recipe.empty()) return {rounded, found.recipe};
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
  for (const NumberSlot& slot : SlotsOf(claim, c)) {
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

// Asks larger questions. Their answers must conform to the claim, too.
void Verify(const Claim& claim, const AskSubject& ask, int threads, Identity& identity) {
  if (identity.recipe.empty()) return;
  std::vector<Case> larger;
  for (const Exchange& witness : identity.witnesses) larger.push_back(LargerThan(witness.c));
  std::string refusal;  // a subject may answer only questions of one size
  identity.unseen = AskAll(larger, ask, refusal);
  for (const auto* witnesses : {&identity.witnesses, &identity.unseen}) {
    if (witnesses->empty()) continue;
    const Conformity found = ConformityOf(claim, *witnesses, {identity.recipe}, threads);
    identity.recipe = found.recipe;
    if (found.recipe.empty()) return;
    identity.judged += found.judged;
  }
}

}  // namespace

Conformity ConformityOf(const Claim& claim, const std::vector<Exchange>& witnesses,
                        const std::vector<std::string>& recipes, int threads) {
  for (const std::string& name : recipes) {
    Conformity found{name, 0};
    try {
      for (const Exchange& witness : witnesses) {
        const Case c = witness.c.With(WordsOf(claim));
        const Judge judge(c, witness.inputs, ParseRecipe(name, c.dtype()),
                          ProveOptions{.threads = threads});
        const Verdict verdict = judge.Evaluate(witness.answer);
        if (verdict.status == Verdict::Status::kFails) found.recipe.clear();
        for (const TensorVerdict& tensor : verdict.tensors) found.judged += tensor.judged;
        if (found.recipe.empty()) break;
      }
    } catch (const Error&) {
      return {};  // no valid combination of attributes
    }
    if (!found.recipe.empty() && found.judged > 0) return found;
  }
  return {};
}

Identity Identify(const std::vector<Case>& questions, const AskSubject& ask,
                  const IdentifyOptions& options) {
  std::string refusal;
  Identity identity{.c = questions.at(0),
                    .witnesses = AskAll(questions, ask, refusal),
                    .unseen = {},
                    .recipe = {},
                    .numbers = {},
                    .equal = {}};
  const std::vector<Exchange>& witnesses = identity.witnesses;
  if (witnesses.empty())
    throw Error("the subject does not answer ", questions[0].ToString(), ": ", refusal,
                "; expected words with which it does (D=128, dtype=bf16)");
  if (std::ranges::none_of(witnesses, HasElement))
    throw Error(questions[0].ToString(), " has no element, expected larger dimensions");
  const Claim asked = ClaimOf(identity.c, options.known);
  const std::vector<Claim> best = Searched(asked, witnesses, options.recipes.front(), options);
  const auto [conforming, recipe] = Conforming(best, witnesses, options);
  identity.recipe = recipe;
  Claim claim = conforming;
  const auto conforms = [&](const Claim& other) {
    options.pause();
    return Conforms(other, witnesses, identity.recipe, options.threads);
  };
  if (!identity.recipe.empty()) {
    claim = Simplified(claim, asked, identity.c, conforms);
    identity.numbers = RangesOf(claim, identity.c, conforms);
    identity.equal = EqualWords(claim, identity.c, conforms);
  }
  identity.c = identity.c.With(WordsOf(claim));
  Verify(claim, ask, options.threads, identity);
  return identity;
}

}  // namespace sextant::oracle
