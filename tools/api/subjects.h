// Creates subjects from their names on the command line.
#pragma once

#include <string>

#include "oracle/subject/attributes_json.h"
#include "oracle/subject/limits.h"
#include "oracle/subject/subject.h"

namespace sextant::tools {

// `limits` are those of exec: and lib: subjects. Throws Error if the text names no
// subject, and oracle::Failure if its file cannot be read or its program does not answer the hello
// message. `told`: the attributes that the questions to such a subject say (attributes_json.h).
oracle::Subject MakeSubject(const std::string& text, const oracle::SubjectLimits& limits,
                            const oracle::ToldAttributes& told = {});
// True if the subject of that name runs in this process, and answers several cases at a time.
bool IsInProcess(const std::string& text);

}  // namespace sextant::tools
