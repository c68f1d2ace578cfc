// Subjects whose answers are computed by this program: they need no other file and no process.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oracle/subject/subject.h"

namespace sextant::tools {

// How the command line names subjects: "fast | recipe:NAME | defect:OPERATION/NAME | files:FILE.h5
// ...".
std::string SubjectHelp();
// The part of SubjectHelp() about those that this program computes.
std::string ComputedSubjectHelp();
// "fast", and how the others begin: "recipe:", "lib:".
std::vector<std::string> KindsOfSubjects();

// Empty if the text is none of ComputedSubjectHelp(). Throws Error for an unknown recipe or defect.
std::optional<oracle::Subject> ComputedSubject(const std::string& text);

// True if the command line can name the subject: "fast", "exec:./mine".
bool HasCommandName(const oracle::Subject& subject);

}  // namespace sextant::tools
