#include "tools/api/broken_law.h"

#include <algorithm>

#include "oracle/catalog/catalog.h"
#include "oracle/property/asked_question.h"
#include "tools/api/judgement.h"

namespace sextant::tools {

using oracle::Verdict;

Verdict JudgeBrokenLaw(const std::string& operation, const oracle::PropertyVerdict& broken,
                       const oracle::Subject& subject, const std::string& recipe) {
  const auto& properties = oracle::CatalogEntryOf(operation).properties;
  const auto law = std::ranges::find(properties, broken.name, &oracle::Property::name);
  Verdict verdict;
  if (law == properties.end() || broken.counterexample.empty()) return verdict;
  for (const auto& [c, inputs, outputs] :
       oracle::QuestionsOf(*law, Case::Parse(broken.counterexample), subject, recipe)) {
    const Recipe by = ParseRecipe(recipe, c.dtype());
    const oracle::Judge judge(c, inputs, by);
    verdict = JudgeOutputs(judge, c, inputs, by, outputs, {}, &subject);
    if (verdict.status == Verdict::Status::kFails) return verdict;
  }
  return verdict;
}

}  // namespace sextant::tools
