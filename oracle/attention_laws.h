// Laws of attention in all its forms: whatever has the inputs q, k and v and the attributes of
// reference/attention_attributes.h.
#pragma once

#include <string_view>
#include <vector>

#include "oracle/property.h"
#include "reference/attention_attributes.h"

namespace sextant::oracle {

// The attention attributes of a case.
AttentionAttributes AttentionOf(const Case& c);

// All of them; without those that a sink breaks, where it takes a part of every weight.
std::vector<Property> AttentionLaws();
std::vector<Property> AttentionLawsWithSink();

}  // namespace sextant::oracle
