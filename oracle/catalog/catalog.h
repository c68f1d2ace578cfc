// The catalog: properties and defects of all operations by name, and likely causes of failures.
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

// The entry of any operation of reference/case/operations.h, with the generated defects. Throws
// Error if there is no such operation.
const CatalogEntry& CatalogEntryOf(std::string_view operation);

// A defect in the entry of the operation. Throws Error with the names that exist.
const Defect& DefectNamed(std::string_view operation, std::string_view name);

// The defects that explain an answer: their predictions are at most half as far from it as the
// recipe's own answer. `permitted` are the permitted errors by which the answer was judged.
std::vector<Cause> CausesOf(const Case& c, const Tensors& inputs, const Recipe& recipe,
                            const std::vector<PermittedTensor>& permitted, const Tensors& answer);

}  // namespace sextant::oracle
