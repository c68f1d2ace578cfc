// Keeps the tensors of a question, so that the judgement can be repeated.
#pragma once

#include <string>

#include "reference/case/question.h"

namespace sextant::tools {

// Writes all tensors, named and typed as in the signature, to a safetensors file in the folder,
// which is created if it does not exist. The name of the file follows from its content: equal
// questions share a file. Returns its path. Throws Error.
std::string KeepTensors(const Question& question, const std::string& folder);

}  // namespace sextant::tools
