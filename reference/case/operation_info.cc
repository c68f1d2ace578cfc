#include "reference/case/operation_info.h"

#include <sstream>

#include "reference/base/value_text.h"

namespace sextant {

OperationInfo::OperationInfo(const OperationTexts& texts)
    : OperationTexts(texts), signature(ParseSignature(texts.signature_text)) {
  std::istringstream steps_of{std::string(steps)}, draws_of{std::string(draw)};
  for (std::string word; steps_of >> word;) {
    Step step{};
    ParseValue(word, step);
    marked_steps.insert(step);
  }
  for (std::string word; draws_of >> word;) draws.insert(SplitWord(word));
}

std::string_view OperationInfo::DrawOf(std::string_view input) const {
  const auto at = draws.find(input);
  return at == draws.end() ? std::string_view("normal") : at->second;
}

}  // namespace sextant
