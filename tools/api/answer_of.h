// Asks a subject.
#pragma once

#include <string>

#include "oracle/subject/subject.h"

namespace sextant::tools {

// A defect is correct in all operations but one, so cases of the others say nothing about it.
// Returns this reason for such a case, else an empty text.
std::string WhyIrrelevant(const oracle::Subject& subject, const Case& c);

// Messages of a subject are cut off after this number of bytes.
inline constexpr size_t kMostBytesOfMessage = 4000;

// The answer of the subject, with outputs that fit the case: an answer with wrong names, shapes or
// dtypes is kFailed. kUnsupported also where the case is irrelevant.
oracle::Answer AnswerOf(const oracle::Subject& subject, const Case& c, const Tensors& inputs);

}  // namespace sextant::tools
