// How much memory judging a case takes, before it begins.
#pragma once

#include <string>

#include "oracle/subject/subject.h"
#include "reference/case/case.h"
#include "reference/prove/prove.h"

namespace sextant::tools {

// "CASE has 2e+09 elements: judging it takes about 71 GiB of memory; smaller dimensions take less";
// empty below 4 GiB. A budget does not change it: the subject is asked about the whole case.
std::string MemoryNote(const Case& c, const oracle::Subject& subject, const ProveOptions& options);

}  // namespace sextant::tools
