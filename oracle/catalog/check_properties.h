// Checks the properties of an operation. Not part of catalog.h, so that who only judges needs no
// RapidCheck.
#pragma once

#include <string>
#include <vector>

#include "oracle/property/property_run.h"

namespace sextant::oracle {

// Checks the properties of the operation on a subject. `recipe` determines the permitted errors.
std::vector<PropertyVerdict> CheckProperties(const Operation& operation, const Subject& subject,
                                             const std::string& recipe,
                                             const PropertyOptions& options);

}  // namespace sextant::oracle
