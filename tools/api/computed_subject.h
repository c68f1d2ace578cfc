// Subjects whose answers are computed by this program: they need no other file and no process.
#pragma once

#include <optional>
#include <string>

#include "oracle/subject/subject.h"

namespace sextant::tools {

inline constexpr const char* kComputedSubjects = "fast | recipe:NAME | defect:OPERATION/NAME";

// Empty if the text is none of kComputedSubjects. Throws Error for an unknown recipe or defect.
std::optional<oracle::Subject> ComputedSubject(const std::string& text);

// True if the command line can name the subject: "fast", "exec:./mine".
bool HasCommandName(const oracle::Subject& subject);

}  // namespace sextant::tools
