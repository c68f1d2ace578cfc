#include "oracle/identify/answers.h"

#include <algorithm>

#include "oracle/identify/probe.h"
#include "oracle/subject/exec_client.h"
#include "reference/case/draw.h"

namespace sextant::oracle {
namespace {

bool HasElement(const Exchange& exchange) {
  return std::ranges::any_of(
      exchange.answer, [](const NamedTensor& tensor) { return CountOf(tensor.values.shape) > 0; });
}

// The questions that are answered. `refusal` gets the message of the first that is not. A subject
// that cannot be run is not asked again; throws Failure.
std::vector<Exchange> AskAll(const std::vector<Case>& questions, const AskSubject& ask,
                             std::string& refusal) {
  std::vector<Exchange> exchanges;
  for (const Case& c : questions) {
    Tensors inputs = DrawInputs(c);
    Answer answer = ask(c, inputs);
    if (answer.status == Answer::Status::kFailed && exchanges.empty())
      throw Failure(Failure::Cause::kEnded, answer.message + "; asked: " + c.ToString(), "");
    if (answer.status == Answer::Status::kAnswered) {
      exchanges.push_back({c, std::move(inputs), std::move(answer.outputs)});
    } else if (refusal.empty()) {
      refusal = answer.message.empty() ? "without a reason" : answer.message;
    }
  }
  return exchanges;
}

}  // namespace

std::vector<Exchange> AnswersTo(const std::vector<Case>& questions, const AskSubject& ask) {
  std::string refusal;
  std::vector<Exchange> exchanges = AskAll(questions, ask, refusal);
  if (exchanges.empty())
    throw Error("the subject does not answer ", questions[0].ToString(), ": ", refusal,
                "; if it answers some cases only, give their words (D=128, dtype=bf16)");
  if (std::ranges::none_of(exchanges, HasElement))
    throw Error(questions[0].ToString(), " has no element, expected larger dimensions");
  return exchanges;
}

std::vector<Exchange> LargerAnswers(const std::vector<Case>& questions, const AskSubject& ask,
                                    int nth) {
  std::vector<Case> larger;
  for (const Case& c : questions) larger.push_back(LargerThan(c, nth));
  std::string refusal;
  try {
    return AskAll(larger, ask, refusal);
  } catch (const Failure&) {
    return {};  // it may fail at larger sizes
  }
}

}  // namespace sextant::oracle
