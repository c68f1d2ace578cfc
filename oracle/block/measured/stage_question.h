// The question that one operation of a composite operation answers. Its own defects and
// measurements may say more about a wrong answer than those of the whole.
#pragma once

#include <optional>
#include <string>

#include "oracle/diagnosis/measurement.h"
#include "reference/case/question.h"

namespace sextant::oracle {

// `output` as the output of its operation, with inputs of the whole and the subject's own earlier
// tensors. Empty if it follows from them by more than one operation, or if they were not answered.
std::optional<Question> StageQuestionOf(const Observation& seen, const std::string& output);

}  // namespace sextant::oracle
