// What only attention with a bias or a sink has: properties and defects. They do not apply to a
// case without that input.
#pragma once

#include <vector>

#include "oracle/attention/attention_mutation.h"
#include "oracle/defect/defect.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

std::vector<Property> BiasAndSinkProperties();
std::vector<NamedMutation<AttentionMutation>> BiasAndSinkMutations();
std::vector<Defect> BiasAndSinkDefects();

}  // namespace sextant::oracle
