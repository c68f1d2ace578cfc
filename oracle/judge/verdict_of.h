// Verdicts on cases from their judged tensors. Private to this folder.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "oracle/judge/tensor_judge.h"

namespace sextant::oracle {

// Conforms or fails as the worst tensor.
Verdict VerdictOf(const Case& c, const std::vector<JudgedTensor>& tensors);
// Of outputs that do not fit the case.
Verdict MismatchVerdict(const Case& c, const std::string& mismatch);
// The other formulas to which an answer may conform (Operation::Alternatives), and the message of
// one that does.
std::vector<std::unique_ptr<Operation>> AlternativesOf(const Case& c, const Recipe& recipe);
void SayAlternative(Verdict& verdict);
// The answer fails if a tensor of its trace does; returns whether one does.
bool SetFirstWrong(Verdict& verdict);
// A conforming answer with an open row or a loose element is unverified.
void SetUnverified(const std::vector<JudgedTensor>& tensors, Verdict& verdict);

}  // namespace sextant::oracle
