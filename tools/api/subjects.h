// Creates subjects from their names on the command line.
#pragma once

#include <string>
#include <vector>

#include "oracle/subject/attributes_json.h"
#include "oracle/subject/subject.h"

namespace sextant::tools {

inline constexpr const char* kSubjectHelp =
    "fast | recipe:NAME | defect:OPERATION/NAME | files:FILE.h5 | lib:FILE.so | exec:COMMAND";

// seconds_per_case: the time limit of exec: and lib: subjects. Throws Error if the text names no
// subject, and oracle::Failure if its file cannot be read or its program does not answer the hello
// message. `told`: the attributes that the questions to such a subject say (attributes_json.h).
oracle::Subject MakeSubject(const std::string& text, double seconds_per_case,
                            const oracle::ToldAttributes& told = {});
// "fast", and how the others begin: "recipe:", "lib:".
std::vector<std::string> KindsOfSubjects();
// True if the subject of that name runs in this process, and answers several cases at a time.
bool IsInProcess(const std::string& text);

}  // namespace sextant::tools
