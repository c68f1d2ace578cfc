// The catalog: properties and defects of all operations by name.
#pragma once

#include <string_view>

#include "oracle/diagnosis/catalog_entry.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

// The entry of any operation of reference/case/operations.h, with the generated defects. Throws
// Error if there is no such operation.
const CatalogEntry& CatalogEntryOf(std::string_view operation);

// A defect in the entry of the operation. Throws Error with the names that exist.
const Defect& DefectNamed(std::string_view operation, std::string_view name);

}  // namespace sextant::oracle
