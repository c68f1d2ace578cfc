#include "tools/api/answer_of.h"

#include "reference/base/printable.h"

namespace sextant::tools {

using oracle::Answer;
using oracle::Subject;

std::string WhyIrrelevant(const Subject& subject, const Case& c) {
  const std::string& operation = subject.defective_operation;
  if (operation.empty() || operation == c.name()) return "";
  return "the defect is in " + operation + ": a case of " + c.name() + " cannot show it";
}

Answer AnswerOf(const Subject& subject, const Case& c, const Tensors& inputs) {
  if (const std::string why = WhyIrrelevant(subject, c); !why.empty())
    return {Answer::Status::kUnsupported, why, {}};
  Answer answer = subject.answer(c, inputs);
  if (const size_t size = answer.message.size(); size > kMostBytesOfMessage) {
    // A cut may divide a character of UTF-8.
    answer.message = Marked(answer.message.substr(0, kMostBytesOfMessage)) + "... (" +
                     std::to_string(size) + " bytes)";
  }
  if (answer.status != Answer::Status::kAnswered) return answer;
  const std::string why = oracle::DescribeMismatch(c, answer.outputs);
  if (!why.empty()) return {Answer::Status::kFailed, why, {}};
  return answer;
}

}  // namespace sextant::tools
