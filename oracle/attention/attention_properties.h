// Properties of all attention operations with the inputs q, k and v and the attributes of
// reference/attention/attention_attributes.h.
#pragma once

#include <string>
#include <vector>

#include "oracle/property/property.h"
#include "reference/attention/attention_attributes.h"

namespace sextant::oracle {

// The values that a case has for a list of attributes that several operations share. Attributes
// that the operation lacks keep their defaults.
template <class Attributes>
Attributes AttributesIn(const Case& c) {
  Attributes shared;
  for (const Attribute& own : AttributesOf(shared)) {
    for (const Attribute& attribute : c.operation().Attributes()) {
      if (attribute.name != own.name) continue;
      SetAttribute(shared, c.name(), own.name,
                   own.dimension ? std::to_string(c.dimensions().at(own.name)) : attribute.text);
    }
  }
  return shared;
}

// The attention attributes of a case.
AttentionAttributes AttentionOf(const Case& c);

std::vector<Property> AttentionProperties();

}  // namespace sextant::oracle
