#include "oracle/catalog/check_properties.h"

#include "oracle/catalog/catalog.h"

namespace sextant::oracle {

std::vector<PropertyVerdict> CheckProperties(const Operation& operation, const Subject& subject,
                                             const std::string& recipe,
                                             const PropertyOptions& options) {
  return CheckEach(CatalogEntryOf(operation.info().name).properties, operation, subject, recipe,
                   options);
}

}  // namespace sextant::oracle
