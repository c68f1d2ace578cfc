#include "tools/api/inferred_recipe.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>

#include "reference/case/out_of_memory.h"
#include "tools/api/answer_of.h"
#include "tools/api/judgement.h"

namespace sextant::tools {
namespace {

using oracle::Answer;
using oracle::Judge;
using oracle::Verdict;

// An answer with all that a JudgedAnswer refers to.
struct Kept {
  const Case* c;
  Tensors inputs, outputs;
  std::unique_ptr<Judge> judge;
  Verdict verdict;
};

std::set<std::string> WordsOf(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

// Words that all the lines have.
std::set<std::string> CommonWords(const std::vector<std::string>& lines) {
  std::set<std::string> common = WordsOf(lines.front());
  for (const std::string& line : lines) {
    const std::set<std::string> words = WordsOf(line);
    std::erase_if(common, [&](const std::string& word) { return !words.contains(word); });
  }
  return common;
}

// " with dtype=f64": the words that all failing cases have, but at most as many others.
std::string CommonText(const InferredRecipe& inferred) {
  std::string text;
  const std::set<std::string> of_all = CommonWords(inferred.cases);
  for (const std::string& word : CommonWords(inferred.failing)) {
    const auto having = static_cast<size_t>(std::ranges::count_if(
        inferred.cases, [&](const std::string& line) { return WordsOf(line).contains(word); }));
    if (!of_all.contains(word) && having <= 2 * inferred.failing.size())
      text += (text.empty() ? " with " : " ") + word;
  }
  return text;
}

// " at position >= 511 and pair >= 1": the least values of derived axes at which elements fail, if
// there are elements at other values that do not.
std::string LeastText(const std::vector<const Verdict*>& failing) {
  struct Least {
    int64_t value;
    bool everywhere;
  };
  std::map<std::string, Least> least;
  for (const Verdict* const verdict : failing) {
    for (const oracle::TensorVerdict& tensor : verdict->tensors) {
      for (const oracle::FailingIndices& axis : tensor.failing) {
        if (axis.derived_from.empty() || axis.ranges.empty()) continue;
        const auto [at, is_new] =
            least.try_emplace(axis.axis, axis.ranges.front().first, axis.everywhere);
        at->second.value = std::min(at->second.value, axis.ranges.front().first);
        at->second.everywhere = at->second.everywhere && axis.everywhere;
      }
    }
  }
  std::string text;
  for (const auto& [axis, of] : least) {
    if (of.everywhere || of.value <= 0) continue;
    text += (text.empty() ? " at " : " and ") + axis + " >= " + std::to_string(of.value);
  }
  return text;
}

// The answers that can be judged; the others are counted.
std::deque<Kept> AskAll(const std::vector<Selected>& selected, const oracle::Subject& subject,
                        const oracle::RecipeSearch& search, InferredRecipe& inferred) {
  std::deque<Kept> all;  // judges refer to its elements
  for (const Selected& one : selected) {
    Kept& kept = all.emplace_back(Kept{&one.c, InputsOf(one), {}, nullptr, {}});
    Answer answer = AnswerOf(subject, one.c, kept.inputs);
    if (answer.status != Answer::Status::kAnswered) {
      const bool declined = answer.status == Answer::Status::kUnsupported;
      ++(declined ? inferred.unsupported : inferred.could_not_run);
      inferred.not_answered.push_back(one.c.ToString() + ": " + answer.message);
      all.pop_back();
      continue;
    }
    kept.outputs = std::move(answer.outputs);
    const Recipe recipe = ParseRecipe(search.start, one.c.dtype());
    WithinMemory(one.c, [&] {
      kept.judge = one.golden ? std::make_unique<Judge>(one.c, kept.inputs, recipe,
                                                        ReadAll(*one.golden, one.c), search.prove)
                              : std::make_unique<Judge>(one.c, kept.inputs, recipe, search.prove);
      return 0;
    });
    inferred.cases.push_back(one.c.ToString());
  }
  for (Kept& kept : all) kept.verdict = kept.judge->Evaluate(kept.outputs);
  return all;
}

// The recipe that the answers show: by their bits, or else the narrowest one by which they conform.
void Find(const std::vector<oracle::JudgedAnswer>& answers, const oracle::RecipeSearch& search,
          InferredRecipe& inferred) {
  inferred.found = oracle::NarrowestRecipe(answers, search);
  inferred.of_bits = oracle::FindRecipeOfBits(answers, search.start, search.prove);
  if (inferred.of_bits && !inferred.failing.empty()) {
    if (auto by_bits = oracle::JudgedBy(inferred.of_bits->recipe, answers, search))
      inferred.found = std::move(by_bits);
  }
  if (!inferred.found && !inferred.of_bits) return;
  if (inferred.of_bits || inferred.found->failing.empty()) {
    inferred.order = oracle::OrderOfSums(
        answers, inferred.of_bits ? inferred.of_bits->recipe : inferred.found->recipe);
  }
}

// Whether a cause explains the first answer that fails by the start.
void FindCauses(const std::deque<Kept>& kept, const oracle::RecipeSearch& search,
                InferredRecipe& inferred) {
  const auto first = std::ranges::find(kept, Verdict::Status::kFails,
                                       [](const Kept& one) { return one.verdict.status; });
  if (first == kept.end() || !inferred.found || inferred.of_bits) return;
  const Recipe recipe = ParseRecipe(search.start, first->c->dtype());
  const Verdict verdict =
      JudgeOutputs(*first->judge, *first->c, first->inputs, recipe, first->outputs, search.prove);
  if (verdict.causes.empty() || !verdict.other_recipes.texts.empty()) return;
  inferred.causes = verdict.causes;
  inferred.found->has_other_errors = true;
}

}  // namespace

InferredRecipe InferRecipe(const std::vector<Selected>& selected, const oracle::Subject& subject,
                           const oracle::RecipeSearch& search) {
  InferredRecipe inferred{subject.name, search.start};
  const std::deque<Kept> kept = AskAll(selected, subject, search, inferred);
  if (kept.empty()) return inferred;
  std::vector<oracle::JudgedAnswer> answers;
  std::vector<const Verdict*> failing;
  for (const Kept& one : kept) {
    answers.push_back({*one.c, one.inputs, one.outputs, *one.judge, one.verdict});
    if (one.verdict.status != Verdict::Status::kFails) continue;
    failing.push_back(&one.verdict);
    inferred.failing.push_back(one.verdict.case_line);
  }
  if (!failing.empty()) inferred.where = CommonText(inferred) + LeastText(failing);
  Find(answers, search, inferred);
  FindCauses(kept, search, inferred);
  if (inferred.found) {
    for (const size_t i : inferred.found->failing)
      inferred.still_failing.push_back(inferred.cases[i]);
  }
  return inferred;
}

}  // namespace sextant::tools
