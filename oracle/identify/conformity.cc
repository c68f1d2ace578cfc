#include "oracle/identify/conformity.h"

#include <deque>

#include "oracle/diagnosis/recipe/recipe_search.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

Conformity ConformityOf(const Claim& claim, const std::vector<Exchange>& exchanges,
                        const std::vector<std::string>& recipes, int threads) {
  for (const std::string& name : recipes) {
    Conformity found{name, 0};
    try {
      for (const Exchange& exchange : exchanges) {
        const Case c = exchange.c.With(WordsOf(claim));
        const Judge judge(c, exchange.inputs, ParseRecipe(name, c.dtype()),
                          ProveOptions{.threads = threads});
        const Verdict verdict = judge.Evaluate(exchange.answer);
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

std::optional<std::string> InferredRecipe(const Claim& claim,
                                          const std::vector<Exchange>& exchanges,
                                          const std::string& start, int threads) {
  struct Judged {
    Case c;
    std::unique_ptr<Judge> judge;
    Verdict verdict;
  };
  std::deque<Judged> all;  // judges refer to their cases
  std::vector<JudgedAnswer> answers;
  const ProveOptions prove{.threads = threads};
  for (const Exchange& exchange : exchanges) {
    Judged& one = all.emplace_back(Judged{exchange.c.With(WordsOf(claim)), nullptr, {}});
    const Recipe recipe = ParseRecipe(start, one.c.dtype());
    one.judge = std::make_unique<Judge>(one.c, exchange.inputs, recipe, prove);
    one.verdict = one.judge->Evaluate(exchange.answer);
    answers.push_back({one.c, exchange.inputs, exchange.answer, *one.judge, one.verdict});
  }
  const auto found = NarrowestRecipe(answers, {.start = start, .prove = prove});
  if (!found || !found->failing.empty() || found->judgeable == 0) return std::nullopt;
  return found->recipe;
}

}  // namespace sextant::oracle
