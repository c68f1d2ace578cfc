// Subjects whose answers are computed by this program: they need no other file and no process.
#pragma once

#include <optional>
#include <string>

#include "oracle/subject/subject.h"
#include "reference/number/tensor/stored_tensor.h"

namespace sextant::tools {

inline constexpr const char* kComputedSubjects = "fast | recipe:NAME | defect:OPERATION/NAME";

// Empty if the text is none of kComputedSubjects. Throws Error for an unknown recipe or defect.
std::optional<oracle::Subject> ComputedSubject(const std::string& text);

// Computes the answer to a case from stored inputs: the same as the subject's answer.
using StoredRun = StoredTensors (*)(const Case& c, const StoredTensors& inputs);
// Null if the subject has none for this case.
StoredRun StoredRunOf(const oracle::Subject& subject, const Case& c);

// True if the command line can name the subject: "fast", "exec:./mine".
bool HasCommandName(const oracle::Subject& subject);

}  // namespace sextant::tools
