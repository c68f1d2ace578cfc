#include "oracle/defect/shapes.h"
#include "oracle/diagnosis/deviation.h"

namespace sextant::oracle {

Hypothesis RightOf(const Observation& seen) {
  return {seen.c.operation().Clone(), SharedInputs::Of(seen.inputs), seen.recipe};
}

std::optional<Hypothesis> WithAttributes(const Hypothesis& base, const AttributeTexts& texts) {
  try {
    std::shared_ptr<Operation> changed = base.operation->Clone();
    for (const auto& [name, text] : texts) {
      if (DependOn(changed->info().signature, name)) return std::nullopt;
      changed->Set(name, text);
    }
    if (ReadsMore(*changed, *base.operation)) return std::nullopt;
    changed->Check();
    return Hypothesis{std::move(changed), base.inputs, base.recipe};
  } catch (const Error&) {
    return std::nullopt;
  }
}

Case CaseOf(const Case& c, const Operation& operation) {
  std::vector<std::string> words;
  const std::vector<Attribute> before = c.operation().Attributes(), after = operation.Attributes();
  for (size_t i = 0; i < after.size(); ++i) {
    if (after[i].text != before[i].text) words.push_back(after[i].name + "=" + after[i].text);
  }
  return words.empty() ? c : c.With(words);
}

}  // namespace sextant::oracle
