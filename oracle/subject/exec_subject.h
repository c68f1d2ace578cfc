// A third-party program as a subject.
#pragma once

#include <string>

#include "oracle/subject/subject.h"

namespace sextant::oracle {

// A stranger's program (oracle/subject/PROTOCOL.md). Says hello at once; throws Failure if that
// fails.
Subject ExecSubject(const std::string& command, double seconds_per_case);

}  // namespace sextant::oracle
