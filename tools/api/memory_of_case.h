// How much memory a case takes, before it begins.
#pragma once

#include <string>

#include "oracle/subject/subject.h"
#include "reference/case/case.h"
#include "reference/prove/prove.h"

namespace sextant::tools {

// About how many bytes judging it takes. A budget does not change it: the subject is asked about
// the whole case.
double BytesToJudge(const Case& c, const oracle::Subject& subject, const ProveOptions& options);
// About how many bytes proving it takes beside the parts in work (prove_parts.h). `whole`: it is
// not proven part by part.
double BytesToProve(const Case& c, const ProveOptions& options, bool whole = false);

// "CASE has 2e+09 elements: judging it takes about 71 GiB of memory; smaller dimensions take less";
// empty below 4 GiB. Throws Error if it is more than `most` MiB; 0: there is no limit.
std::string MemoryNote(const Case& c, const std::string& work, double bytes, double most);
// Prints that note to standard error.
void NoteMemory(const Case& c, const std::string& work, double bytes, double most);

}  // namespace sextant::tools
