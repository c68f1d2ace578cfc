#include "tools/api/completed_line.h"

#include <iterator>
#include <sstream>

#include "reference/base/error.h"
#include "reference/case/aliases.h"
#include "reference/case/operations.h"

namespace sextant::tools {
namespace {

ComparableLine Complete(const std::string& line, const ConfigChoice& choice, Silence silence,
                        const std::string& left_out) {
  if (choice.path.empty()) return {line, {}, {}};
  std::vector<std::string> words = WordsIn(InOurWords(line).line);
  if (words.empty()) return {line, {}, {}};
  const auto operation = MakeOperationNamed(words.front(), line);
  ComparableLine completed{words.front(), {}, {}};
  words.erase(words.begin());
  const ConfigFor config{*operation, words, silence};
  const fixtures::Model model = fixtures::ReadConfig(choice.path, choice.part);
  try {
    completed.facts = config.FactsFor(model, choice.layer);
  } catch (const Error& e) {
    throw Error(choice.path, ": ", e.what());
  }
  completed.not_compared = config.SilentAttributes(completed.facts);
  completed.facts.erase(left_out);
  for (const auto& [key, text] : completed.facts) completed.line += " " + key + "=" + text;
  for (const std::string& word : words) completed.line += " " + word;
  return completed;
}

}  // namespace

std::vector<std::string> WordsIn(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

std::string CompleteLine(const std::string& line, const ConfigChoice& choice,
                         const std::string& left_out) {
  return Complete(line, choice, Silence::kIsRefused, left_out).line;
}

ComparableLine CompleteToCompare(const std::string& line, const ConfigChoice& choice) {
  return Complete(line, choice, Silence::kIsAllowed, "");
}

}  // namespace sextant::tools
