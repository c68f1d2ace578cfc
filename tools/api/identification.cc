#include "tools/api/identification.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "oracle/audit/suggest.h"
#include "oracle/identify/key_heads.h"
#include "oracle/identify/probe.h"
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

std::vector<Identification::Difference> DifferencesFrom(
    const Case& model, const std::vector<std::string>& not_compared, const Identity& found) {
  std::vector<Identification::Difference> differences;
  const Claim other = oracle::ClaimOf(found.c);
  for (const auto& [attribute, text] : oracle::ClaimOf(model)) {
    if (std::ranges::count(not_compared, attribute) > 0) continue;
    if (other.at(attribute) != text) differences.push_back({attribute, text, other.at(attribute)});
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
  std::vector<Exchange> all = identity.witnesses;
  all.insert(all.end(), identity.unseen.begin(), identity.unseen.end());
  for (const Exchange& witness : all) {
    const Case c = witness.c.With(oracle::WordsOf(oracle::ClaimOf(claimed)));
    const Recipe recipe = ParseRecipe(by, c.dtype());
    const oracle::Judge judge(c, witness.inputs, recipe);
    oracle::Verdict verdict = JudgeOutputs(judge, c, witness.inputs, recipe, witness.answer);
    if (verdict.status == oracle::Verdict::Status::kFails) return verdict;
  }
  return std::nullopt;
}

// The nearest claim with the numbers of the question: its own may only make up for what no number
// explains.
std::optional<Case> WithAskedNumbers(const Case& nearest, const Case& question) {
  Claim claim = oracle::ClaimOf(nearest);
  const Claim asked = oracle::ClaimOf(question);
  const auto is_number = [](const std::string& text) {
    double number = 0;
    const char* const end = text.data() + text.size();
    return std::from_chars(text.data(), end, number).ptr == end && !text.empty();
  };
  for (auto& [attribute, text] : claim) {
    const std::string& usual = asked.at(attribute);
    if (is_number(text) && is_number(usual)) text = usual;
  }
  if (claim == oracle::ClaimOf(nearest)) return std::nullopt;
  try {
    return nearest.With(oracle::WordsOf(claim));
  } catch (const Error&) {
    return std::nullopt;  // no valid combination of attributes
  }
}

// How many deviations the first cause names ("a+b", or "together with b"; other causes may be
// alternatives); more than any number if there is none.
size_t PartsOf(const std::optional<oracle::Verdict>& verdict) {
  if (!verdict || verdict->causes.empty()) return SIZE_MAX;
  const oracle::Cause& first = verdict->causes.front();
  const bool has_second = first.why.find("together with") != std::string::npos;
  return 1 + static_cast<size_t>(std::ranges::count(first.name, '+')) + has_second;
}

// Sets the failing verdict. With the numbers of the question, if fewer deviations explain it so.
void SetFailing(const Case& question, const std::string& recipe, Identification& found) {
  found.failing = FailingOf(found.identity, found.identity.c, recipe);
  const auto plain = WithAskedNumbers(found.identity.c, question);
  if (!plain || PartsOf(found.failing) == 1) return;
  auto failing = FailingOf(found.identity, *plain, recipe);
  if (PartsOf(failing) >= PartsOf(found.failing)) return;
  found.identity.c = *plain;
  found.identity.numbers.clear();
  found.identity.equal.clear();
  found.identity.nearest.reset();
  found.failing = std::move(failing);
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
  return oracle::KeysOf(request.line);
}

Identification IdentifySubject(const IdentifyRequest& request, const oracle::Subject& subject) {
  const ComparableLine asked = CompleteToCompare(request.line, request.against);
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
                       .identity = oracle::Identify(questions, ask,
                                                    {.recipes = RecipesFrom(recipe),
                                                     .known = ToldAttributesOf(request),
                                                     .threads = request.prove.threads,
                                                     .pause = pause})};
  if (!found.Conforms()) SetFailing(questions[0], recipe, found);
  if (!request.against.path.empty()) {
    found.differences = DifferencesFrom(questions[0], asked.not_compared, found.identity);
    found.not_compared = asked.not_compared;
    found.not_shown = NotShown(asked.facts, found.identity);
  }
  return found;
}

}  // namespace sextant::tools
