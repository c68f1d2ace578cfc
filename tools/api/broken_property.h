// Why a property breaks: the causes of the wrong answer among those that broke it.
#pragma once

#include <string>

#include "oracle/judge/judge.h"
#include "oracle/property/property_run.h"
#include "oracle/subject/subject.h"

namespace sextant::tools {

// The verdict on the first of the subject's answers, in the counterexample, that fails by the
// recipe. If all conform, the property breaks by less than a permitted error: the verdict has no
// causes.
oracle::Verdict JudgeBrokenProperty(const std::string& operation,
                                    const oracle::PropertyVerdict& broken,
                                    const oracle::Subject& subject, const std::string& recipe);

}  // namespace sextant::tools
