#include "tools/api/identification.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "oracle/audit/suggest.h"
#include "oracle/identify/key_heads.h"
#include "oracle/identify/probe.h"
#include "reference/case/aliases.h"
#include "tools/api/answer_of.h"
#include "tools/api/judgement.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Claim;
using oracle::Exchange;
using oracle::Identity;

std::vector<std::string> RecipesFrom(const std::string& first) {
  std::vector<std::string> recipes = {first};
  for (const StandardRecipe& standard : StandardRecipes()) recipes.emplace_back(standard.name);
  return recipes;
}

std::optional<double> NumberOf(const std::string& text) {
  double number = 0;
  const char* const end = text.data() + text.size();
  if (text.empty() || std::from_chars(text.data(), end, number).ptr != end) return std::nullopt;
  return number;
}

// True if the answers conform with this number, too.
bool IsInRange(const Identity& found, const std::string& attribute, const std::string& text) {
  const auto number = NumberOf(text);
  return number && std::ranges::any_of(found.numbers, [&](const oracle::NumberRange& range) {
           return range.attribute == attribute && range.least <= *number && *number <= range.most;
         });
}

std::vector<Identification::Difference> DifferencesFrom(
    const Case& model, const std::vector<std::string>& not_compared, const Identity& found) {
  std::vector<Identification::Difference> differences;
  const Claim other = oracle::ClaimOf(found.c);
  for (const auto& [attribute, text] : oracle::ClaimOf(model)) {
    if (std::ranges::count(not_compared, attribute) > 0) continue;
    if (other.at(attribute) != text && !IsInRange(found, attribute, text))
      differences.push_back({attribute, text, other.at(attribute)});
  }
  if (!found.key_heads.empty())  // in no model
    differences.push_back(
        {"key_heads", "floor(h / (H/K))", oracle::TextOfKeyHeads(found.key_heads)});
  return differences;
}

// The words of the model that other words can replace, with the same answers.
std::vector<std::string> NotShown(const Facts& facts, const Identity& found) {
  std::vector<std::string> words;
  for (const auto& [key, text] : facts) {
    const bool is_replaceable = std::ranges::any_of(
        found.equal, [&](const std::string& word) { return SplitWord(word).first == key; });
    if (is_replaceable) words.push_back(key + "=" + text);
  }
  return words;
}

// The verdict on the first answer that fails by the claim of a case.
std::optional<oracle::Verdict> FailingOf(const Identity& identity, const Case& claimed,
                                         const std::string& by) {
  std::vector<Exchange> all = identity.exchanges;
  all.insert(all.end(), identity.unseen.begin(), identity.unseen.end());
  for (const Exchange& exchange : all) {
    const Case c = exchange.c.With(oracle::WordsOf(oracle::ClaimOf(claimed)));
    const Recipe recipe = ParseRecipe(by, c.dtype());
    const oracle::Judge judge(c, exchange.inputs, recipe);
    oracle::Verdict verdict = JudgeOutputs(judge, c, exchange.inputs, recipe, exchange.answer);
    if (verdict.status == oracle::Verdict::Status::kFails) return verdict;
  }
  return std::nullopt;
}

// The case with that claim; none if its attributes are no valid combination.
std::optional<Case> WithClaim(const Case& c, const Claim& claim) {
  try {
    return c.With(oracle::WordsOf(claim));
  } catch (const Error&) {
    return std::nullopt;
  }
}

// The nearest claim with the numbers of the question: its own may only make up for what no number
// explains.
std::optional<Case> WithAskedNumbers(const Case& nearest, const Case& question) {
  Claim claim = oracle::ClaimOf(nearest);
  const Claim asked = oracle::ClaimOf(question);
  for (auto& [attribute, text] : claim) {
    const std::string& usual = asked.at(attribute);
    if (NumberOf(text) && NumberOf(usual)) text = usual;
  }
  if (claim == oracle::ClaimOf(nearest)) return std::nullopt;
  return WithClaim(nearest, claim);
}

// How many deviations the first cause names ("a+b", or "together with b"; other causes may be
// alternatives); more than any number if there is none.
size_t PartsOf(const std::optional<oracle::Verdict>& verdict) {
  if (!verdict || verdict->causes.empty()) return SIZE_MAX;
  const oracle::Cause& first = verdict->causes.front();
  const bool has_second = first.why.find("together with") != std::string::npos;
  return 1 + static_cast<size_t>(std::ranges::count(first.name, '+')) + has_second;
}

// A claim and the verdict on the first answer that fails by it.
struct Refuted {
  Case claim;
  std::optional<oracle::Verdict> verdict;
};

// A cause may be another value of an attribute ("base=500000"), which explains the answers to small
// questions. Then the claim with that value, and what it does not explain.
Refuted RefutedBy(const Identity& identity, Case claim, const std::string& recipe) {
  constexpr int kMostValues = 3;
  Refuted refuted{claim, FailingOf(identity, claim, recipe)};
  for (int i = 0; i < kMostValues && PartsOf(refuted.verdict) == 1; ++i) {
    const std::string& name = refuted.verdict->causes.front().name;
    if (!oracle::ClaimOf(claim).contains(name.substr(0, name.find('=')))) break;
    try {
      claim = claim.With(name);
    } catch (const Error&) {
      break;  // no valid combination of attributes
    }
    auto verdict = FailingOf(identity, claim, recipe);
    if (!verdict) break;
    refuted = {claim, std::move(verdict)};
  }
  return refuted;
}

void ForgetRanges(Identity& identity) {
  identity.numbers.clear();
  identity.equal.clear();
  identity.nearest.reset();
}

// Sets the failing verdict. With the numbers of the question, if no more deviations explain it so:
// the nearest numbers may only make up for them.
void SetFailing(const Case& question, const std::string& recipe, Identification& found) {
  const Case nearest = found.identity.c;
  Refuted refuted = RefutedBy(found.identity, nearest, recipe);
  if (const auto plain = WithAskedNumbers(nearest, question)) {
    Refuted by_plain = RefutedBy(found.identity, *plain, recipe);
    const size_t parts = PartsOf(by_plain.verdict);
    if (parts < SIZE_MAX && parts <= PartsOf(refuted.verdict)) refuted = std::move(by_plain);
  }
  // What fits best may be far from everything that is known.
  if (PartsOf(refuted.verdict) == SIZE_MAX) {
    Refuted by_question = RefutedBy(found.identity, question, recipe);
    if (PartsOf(by_question.verdict) < SIZE_MAX) refuted = std::move(by_question);
  }
  found.failing = std::move(refuted.verdict);
  if (refuted.claim.ToString() == nearest.ToString()) return;
  found.identity.c = refuted.claim;
  ForgetRanges(found.identity);
}

// True if every answer is 0 everywhere, or its first input.
bool ComputesNothing(const Identity& identity) {
  const auto is_zero = [](double x) { return x == 0; };
  return std::ranges::all_of(identity.exchanges, [&](const Exchange& exchange) {
    const std::vector<double>&y = exchange.answer.at(0).values.data,
          &x = exchange.inputs.at(0).values.data;
    return !y.empty() && (std::ranges::all_of(y, is_zero) || y == x);
  });
}

// A rotation by frequencies of 0, or times 0, is right in no model. It is the right answer of an
// operation if the attributes of the question give it.
void RefuteNothing(const Case& question, const std::string& first, Identity& identity) {
  if (identity.recipe.empty() || !ComputesNothing(identity)) return;
  if (!FailingOf(identity, question, first)) return;
  identity.recipe.clear();
  identity.c = question;
  ForgetRanges(identity);
}

// A recipe other than the first may permit much, and a bug with it. If a cause explains the answers
// by the first one, and no honest precision does, they do not conform.
void RefuteByCauses(const std::string& first, Identification& found) {
  Identity& identity = found.identity;
  if (!found.Conforms() || identity.recipe == first) return;
  auto failing = FailingOf(identity, identity.c, first);
  if (!failing) return;
  if (failing->causes.empty() || !failing->other_recipes.texts.empty()) {
    found.by_first = std::move(failing);
    return;
  }
  identity.recipe.clear();
  ForgetRanges(identity);
}

// Numbers that nobody would choose may make up for a bug. If one known defect explains the answers
// with the question's own values of these attributes, that is what the subject computes.
void PreferADefect(const Case& question, const std::string& first, Identity& identity) {
  if (identity.recipe.empty()) return;
  Claim claim = oracle::ClaimOf(identity.c);
  const Claim asked = oracle::ClaimOf(question);
  for (auto& [attribute, text] : claim)
    if (!oracle::IsPlainClaim({{attribute, text}}, identity.c)) text = asked.at(attribute);
  if (claim == oracle::ClaimOf(identity.c)) return;
  const std::optional<Case> plain = WithClaim(identity.c, claim);
  if (!plain) return;
  const auto failing = FailingOf(identity, *plain, first);
  if (PartsOf(failing) != 1 || failing->causes.front().is_measured) return;
  const std::string& name = failing->causes.front().name;
  if (claim.contains(name.substr(0, name.find('=')))) return;
  identity.recipe.clear();
  identity.c = *plain;
  ForgetRanges(identity);
}

void RequireNumbers(const Case& c, const Answer& answer) {
  const auto is_nan = [](double x) { return std::isnan(x); };
  for (const NamedTensor& tensor : answer.outputs) {
    if (!tensor.values.data.empty() && std::ranges::all_of(tensor.values.data, is_nan))
      throw Error("every element of ", tensor.name, " is NaN in the answer to ", c.ToString());
  }
}

}  // namespace

std::string LineOf(const Case& question) {
  std::istringstream words(oracle::ShortestLine(question));
  std::string line;
  for (std::string word; words >> word;) {
    if (word[0] == '@' || word.starts_with("seed=")) continue;
    line += (line.empty() ? "" : " ") + word;
  }
  return line;
}

std::set<std::string> ToldAttributesOf(const IdentifyRequest& request) {
  return oracle::KeysOf(InOurWords(request.line).line);
}

Identification IdentifySubject(const IdentifyRequest& request, const oracle::Subject& subject) {
  const LineInOurWords ours = InOurWords(request.line);
  const ComparableLine asked = CompleteToCompare(ours.line, request.against);
  const std::vector<Case> questions = oracle::ProbesOf(asked.line);
  const std::string recipe = request.recipe.empty() ? subject.recipe : request.recipe;
  ParseRecipe(recipe, DType::kF32);  // throws Error before any question is asked
  const auto ask = [&](const Case& c, const Tensors& inputs) {
    Answer answer = AnswerOf(subject, c, inputs);
    RequireNumbers(c, answer);
    return answer;
  };
  const auto pause = [&request] {
    if (request.prove.progress) request.prove.progress(0);
  };
  Identification found{.subject = subject.name,
                       .against = request.against.path,
                       .first_recipe = recipe,
                       .identity = oracle::Identify(questions, ask,
                                                    {.recipes = RecipesFrom(recipe),
                                                     .known = ToldAttributesOf(request),
                                                     .threads = request.prove.threads,
                                                     .pause = pause})};
  found.notes = ours.notes;
  RefuteNothing(questions[0], recipe, found.identity);
  PreferADefect(questions[0], recipe, found.identity);
  RefuteByCauses(recipe, found);
  if (!found.Conforms()) SetFailing(questions[0], recipe, found);
  if (!request.against.path.empty()) {
    found.differences = DifferencesFrom(questions[0], asked.not_compared, found.identity);
    found.not_compared = asked.not_compared;
    found.not_shown = NotShown(asked.facts, found.identity);
  }
  return found;
}

}  // namespace sextant::tools
