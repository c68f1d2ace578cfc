// The properties, defects, measurements and the plan of one operation. oracle/<family>/<op>.cc ends
// with
//   template <> CatalogEntry MakeCatalogEntry<RmsNorm>() { return {.properties = {...}, .defects =
//   {...}}; }
#pragma once

#include <initializer_list>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/defect/planned_operation.h"
#include "oracle/diagnosis/measurement.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

struct CatalogEntry {
  std::vector<Property> properties;
  std::vector<Defect> defects;
  std::vector<Measurement> measurements = {};
  PlanMaker plan = nullptr;  // of the operation, if there is one: its edits are measured
};

template <class Op>
CatalogEntry MakeCatalogEntry();

// Concatenates lists of properties or of defects: Joined<Defect>({A(), B(), {one, two}}).
template <class T>
std::vector<T> Joined(std::initializer_list<std::vector<T>> lists) {
  std::vector<T> all;
  for (const std::vector<T>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

}  // namespace sextant::oracle
