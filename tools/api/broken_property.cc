#include "tools/api/broken_property.h"

#include <algorithm>

#include "oracle/catalog/catalog.h"
#include "oracle/property/asked_question.h"
#include "tools/api/judgement.h"

namespace sextant::tools {

using oracle::Verdict;

Verdict JudgeBrokenProperty(const std::string& operation, const oracle::PropertyVerdict& broken,
                            const oracle::Subject& subject, const std::string& recipe) {
  const auto& properties = oracle::CatalogEntryOf(operation).properties;
  const auto property = std::ranges::find(properties, broken.name, &oracle::Property::name);
  Verdict verdict;
  if (property == properties.end() || broken.counterexample.empty()) return verdict;
  for (const auto& [c, inputs, outputs] :
       oracle::QuestionsOf(*property, Case::Parse(broken.counterexample), subject, recipe)) {
    const Recipe by = ParseRecipe(recipe, c.dtype());
    const oracle::Judge judge(c, inputs, by);
    verdict = JudgeOutputs(judge, c, inputs, by, outputs, {}, &subject);
    if (verdict.status == Verdict::Status::kFails) return verdict;
  }
  return verdict;
}

}  // namespace sextant::tools
