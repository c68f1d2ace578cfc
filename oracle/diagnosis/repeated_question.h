// The same question asked twice: threads that race, memory that is not initialised.
#pragma once

#include <future>
#include <optional>
#include <string>

#include "oracle/diagnosis/measurement.h"

namespace sextant::oracle {

// "the same question gave another answer: 12 of 4096 elements differ". Differences within the
// permitted errors do not count: sums may have another order each time. Empty if the subject cannot
// be asked again, or if its answers do not vary (Subject::may_vary).
std::string DifferenceOfSecondAnswer(const Observation& seen);

// The subject, which is asked this question now, in another thread: the causes of an answer that
// fails begin with the same question. If that is the next question, its answer is this one; the
// next question is asked by one thread. All must outlive what is returned. The subject itself if
// its answers do not vary.
Subject AskedAhead(const Subject& subject, const Case& c, const Tensors& inputs);

// Asks it in another thread: a program of others computes while causes are looked for.
class RepeatedQuestion {
 public:
  // The observation must outlive this object.
  explicit RepeatedQuestion(const Observation& seen);
  // Answers other questions, after this one. Null if there is none to ask.
  const Subject* subject() const { return subject_ ? &*subject_ : nullptr; }
  // Waits for the answer.
  std::string Difference() const { return difference_.get(); }

 private:
  std::shared_future<std::string> difference_;
  std::optional<Subject> subject_;
};

}  // namespace sextant::oracle
