// The questions that a property asks in one case.
#pragma once

#include <string>
#include <vector>

#include "oracle/property/property.h"
#include "oracle/subject/subject.h"

namespace sextant::oracle {

struct AskedQuestion {
  Case c;
  Tensors inputs, outputs;  // those of the subject
};

// In the order in which they are asked, until one is not answered.
std::vector<AskedQuestion> QuestionsOf(const Property& property, const Case& c,
                                       const Subject& subject, const std::string& recipe);

}  // namespace sextant::oracle
