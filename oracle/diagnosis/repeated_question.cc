#include "oracle/diagnosis/repeated_question.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

namespace sextant::oracle {

std::string DifferenceOfSecondAnswer(const Observation& seen) {
  if (!seen.how.subject || !seen.how.subject->may_vary) return "";
  const Answer again = seen.how.subject->answer(seen.c, seen.inputs);
  if (again.status != Answer::Status::kAnswered)
    return "the same question, asked again, gave no answer";
  if (!DescribeMismatch(seen.c, again.outputs).empty()) return "";
  size_t elements = 0, different = 0;
  for (const PermittedTensor& permitted : seen.permitted) {
    const auto first = std::ranges::find(seen.answer, permitted.name, &NamedTensor::name);
    const auto second = std::ranges::find(again.outputs, permitted.name, &NamedTensor::name);
    if (first == seen.answer.end() || second == again.outputs.end()) continue;
    elements += permitted.error.data.size();
    for (size_t i = 0; i < permitted.error.data.size(); ++i) {
      const double a = first->values.data[i], b = second->values.data[i];
      // Two answers by the recipe may be so far from each other.
      const double bound = 2 * permitted.error.data[i];
      if (!SameNumber(a, b) && std::isfinite(bound) && !(std::abs(a - b) <= bound)) ++different;
    }
  }
  if (different == 0) return "";
  return "the same question gave another answer: " + std::to_string(different) + " of " +
         std::to_string(elements) + " elements differ";
}

Subject AskedAhead(const Subject& subject, const Case& c, const Tensors& inputs) {
  if (!subject.may_vary) return subject;
  Subject asked = subject;
  const auto answer = std::make_shared<std::future<Answer>>(
      std::async(std::launch::async, subject.answer, std::cref(c), std::cref(inputs)));
  asked.answer = [answer, &subject, &c, &inputs](const Case& other, const Tensors& numbers) {
    const bool is_first = answer->valid();
    Answer ahead = is_first ? answer->get() : Answer();
    const bool is_this = is_first && &other == &c && &numbers == &inputs;
    // It may have failed only because the machine had other work: then it is asked again.
    if (is_this && ahead.status == Answer::Status::kAnswered) return ahead;
    return subject.answer(other, numbers);
  };
  return asked;
}

RepeatedQuestion::RepeatedQuestion(const Observation& seen) {
  const bool may_vary = seen.how.subject && seen.how.subject->may_vary;
  // A deferred call costs no thread.
  difference_ = std::async(may_vary ? std::launch::async : std::launch::deferred,
                           DifferenceOfSecondAnswer, std::cref(seen));
  if (!seen.how.subject) return;
  subject_ = *seen.how.subject;
  if (!may_vary) return;
  subject_->answer = [difference = difference_, &ask = seen.how.subject->answer](
                         const Case& c, const Tensors& inputs) {
    difference.wait();
    return ask(c, inputs);
  };
}

}  // namespace sextant::oracle
