// What the oracle knows of each operation: its laws and its bugs. oracle/<op>.cc ends with
//   template <> Oracle MakeOracle<RmsNorm>() { return {.properties = {...}, .defects = {...}}; }
#pragma once

#include <string_view>
#include <vector>

#include "oracle/defect.h"
#include "oracle/property.h"

namespace sextant::oracle {

struct Oracle {
  std::vector<Property> properties;
  std::vector<Defect> defects;
};

template <class Op>
Oracle MakeOracle();

// By name, for every operation of reference/operations.h; the generated defects are included.
const Oracle& OracleOf(std::string_view operation);

}  // namespace sextant::oracle
