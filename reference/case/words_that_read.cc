#include "reference/case/words_that_read.h"

namespace sextant {

std::string WordsThatRead(const Operation& operation, std::string_view input) {
  const TensorSpec* spec = FindTensor(operation.info().signature, input);
  std::string words;
  if (!spec || !spec->optional) return words;
  for (const Attribute& attribute : operation.Attributes()) {
    for (const std::string& value : attribute.values) {
      if (value.ends_with(')')) continue;  // a form with parameters, "linear(factor=)"
      const auto changed = operation.Clone();
      changed->Set(attribute.name, value);
      if (!changed->Reads(input)) continue;
      words += (words.empty() ? "" : " or ") + attribute.name + "=" + value;
    }
  }
  return words;
}

}  // namespace sextant
