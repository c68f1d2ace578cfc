#include "tools/api/own_question.h"

#include <map>
#include <sstream>
#include <utility>

#include "reference/base/error.h"
#include "reference/case/aliases.h"
#include "reference/case/operations.h"

namespace sextant::tools {
namespace {

// Moves the words config=, part= and layer= of the text into the choice; returns the other words.
std::string TakeChoice(const std::string& text, ConfigChoice& choice) {
  const std::map<std::string, std::string*> members = {
      {"config", &choice.path}, {"part", &choice.part}, {"layer", &choice.layer}};
  std::istringstream in(text);
  std::string rest;
  for (std::string word; in >> word;) {
    const size_t equals = word.find('=');
    const auto member = members.find(word.substr(0, equals));
    if (equals == word.npos || member == members.end()) {
      rest += (rest.empty() ? "" : " ") + word;
      continue;
    }
    std::string& value = *member->second;
    if (!value.empty())
      throw Error("the question has ", word, ", but ", member->first, " is already ", value);
    value = word.substr(equals + 1);
    if (value.empty()) throw Error("the question has ", word, " without a value");
  }
  if (choice.path.empty() && !(choice.part + choice.layer).empty())
    throw Error("the question has part= or layer=, expected config=FILE too");
  return rest;
}

bool HasKeyHeads(const std::string& line) {
  return Case::Has(*MakeOperationNamed(line.substr(0, line.find(' ')), line), "K");
}

}  // namespace

Question OwnQuestion(const std::string& text, const std::vector<OwnTensor>& tensors,
                     ConfigChoice choice) {
  const std::string words = TakeChoice(text, choice);
  if (choice.path.empty()) return ParseQuestion(words, tensors);
  LineInOurWords ours = InOurWords(words);
  const std::string line = CompleteLine(ours.line, choice, HasKeyHeads(ours.line) ? "" : "H");
  try {
    Question question = ParseQuestion(line, tensors);
    question.notes = std::move(ours.notes);
    return question;
  } catch (const Error& e) {
    throw Error(e.what(), "; with ", choice.path, " the question is '", line, "'");
  }
}

}  // namespace sextant::tools
