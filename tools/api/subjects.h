// Subjects by their names on the command line.
#pragma once

#include <string>

#include "oracle/subject/subject.h"

namespace sextant::tools {

inline constexpr const char* kSubjectHelp =
    "fast | recipe:NAME | defect:OPERATION/NAME | files:FILE.h5 | exec:COMMAND";

// Throws Error if there is no such subject or its file cannot be read, oracle::Failure if a program
// does not even say hello.
oracle::Subject MakeSubject(const std::string& text, double seconds_per_case);

}  // namespace sextant::tools
