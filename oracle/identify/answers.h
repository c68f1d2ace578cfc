// Questions that are asked, and their answers.
#pragma once

#include <functional>
#include <vector>

#include "oracle/identify/misfit.h"
#include "oracle/subject/subject.h"

namespace sextant::oracle {

using AskSubject = std::function<Answer(const Case&, const Tensors& inputs)>;

// The questions that are answered. Throws Error if there are none, or no answer has an element, and
// Failure (subject/exec_client.h) if the subject cannot be run.
std::vector<Exchange> AnswersTo(const std::vector<Case>& questions, const AskSubject& ask);

// The answers to larger questions (LargerThan); none if it answers only questions of one size.
std::vector<Exchange> LargerAnswers(const std::vector<Case>& questions, const AskSubject& ask,
                                    int nth);

}  // namespace sextant::oracle
