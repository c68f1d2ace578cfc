// Creates subjects from their names on the command line.
#pragma once

#include <string>

#include "oracle/subject/attributes_json.h"
#include "oracle/subject/subject.h"

namespace sextant::tools {

inline constexpr const char* kSubjectHelp =
    "fast | recipe:NAME | defect:OPERATION/NAME | files:FILE.h5 | lib:FILE.so | exec:COMMAND";

// seconds_per_case: the time limit of exec: and lib: subjects. Throws Error if there is no such
// subject or its file cannot be read, and oracle::Failure if a program does not answer the hello
// message. `told`: the attributes that the questions to such a subject say (attributes_json.h).
oracle::Subject MakeSubject(const std::string& text, double seconds_per_case,
                            const oracle::ToldAttributes& told = {});
// True if the subject of that name runs in this process, and answers several cases at a time.
bool IsInProcess(const std::string& text);

// A defect is correct in all operations but one, so cases of the others say nothing about it.
// Returns this reason for such a case, else an empty text.
std::string WhyIrrelevant(const oracle::Subject& subject, const Case& c);

// Messages of a subject are cut off after this number of bytes.
inline constexpr size_t kMostBytesOfMessage = 4000;

// The answer of the subject, with outputs that fit the case: an answer with wrong names, shapes or
// dtypes is kFailed. kUnsupported also where the case is irrelevant.
oracle::Answer AnswerOf(const oracle::Subject& subject, const Case& c, const Tensors& inputs);

}  // namespace sextant::tools
