// A third-party program as a subject.
#pragma once

#include <string>

#include "oracle/subject/attributes_json.h"
#include "oracle/subject/limits.h"
#include "oracle/subject/subject.h"

namespace sextant::oracle {

// A program that speaks the protocol of oracle/subject/PROTOCOL.md. Sends hello at once; throws
// Failure if that fails. After three cases in a row without an answer in time, every further case
// fails without being asked. Its questions say only the attributes `told`.
Subject ExecSubject(const std::string& command, const SubjectLimits& limits,
                    const ToldAttributes& told = {});

}  // namespace sextant::oracle
