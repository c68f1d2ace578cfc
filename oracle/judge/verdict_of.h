// Verdicts on cases from their judged tensors. Private to this folder.
#pragma once

#include <string>
#include <vector>

#include "oracle/judge/tensor_judge.h"

namespace sextant::oracle {

// Conforms or fails as the worst tensor.
Verdict VerdictOf(const Case& c, const std::vector<JudgedTensor>& tensors);
// Of outputs that do not fit the case.
Verdict MismatchVerdict(const Case& c, const std::string& mismatch);
// A conforming answer with an open row or a loose element is unverified.
void SetUnverified(const std::vector<JudgedTensor>& tensors, Verdict& verdict);

}  // namespace sextant::oracle
