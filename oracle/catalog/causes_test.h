// Questions whose answers have causes, for tests.
#pragma once

#include <string>
#include <vector>

#include "oracle/catalog/causes.h"
#include "oracle/defect/drawn_case_test.h"
#include "oracle/judge/judge.h"

namespace sextant::oracle {

struct AskedCase : DrawnCase {
  using DrawnCase::DrawnCase;
  // "name (why)". `subject`: may be asked more.
  std::vector<std::string> Causes(const Tensors& answer, const Subject* subject = nullptr) const {
    const Judge judge(c, inputs, recipe);
    std::vector<std::string> causes;
    for (const Cause& cause :
         CausesOf({c, inputs, recipe, judge.golden(), judge.permitted(), answer, {subject}}))
      causes.push_back(cause.name + " (" + cause.why + ")");
    return causes;
  }
};

}  // namespace sextant::oracle
