// What the oracle knows of all operations, by name; and the causes that this knowledge finds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/defect/catalog_entry.h"
#include "oracle/judge/judge.h"
#include "oracle/property/property.h"
#include "oracle/subject/subject.h"
#include "reference/prove/prove.h"

namespace sextant::oracle {

// By name, for every operation of reference/case/operations.h; the generated defects are included.
const CatalogEntry& CatalogEntryOf(std::string_view operation);

// Checks the properties of the operation on a subject, whose answers are judged by `recipe`.
std::vector<PropertyVerdict> CheckProperties(const Operation& operation, const Subject& subject,
                                             const std::string& recipe,
                                             const PropertyOptions& options);

// The defects that explain an answer, and at least twice as well as an honest one with its rounding
// errors would. `permitted` is what the answer was judged by.
std::vector<Cause> CausesOf(const Case& c, const Tensors& inputs, const Recipe& recipe,
                            const std::vector<PermittedTensor>& permitted, const Tensors& answer);

}  // namespace sextant::oracle
