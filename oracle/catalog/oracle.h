// What the oracle knows of each operation: its laws and its bugs. oracle/<op>.cc ends with
//   template <> Oracle MakeOracle<RmsNorm>() { return {.properties = {...}, .defects = {...}}; }
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "oracle/defect/defect.h"
#include "oracle/property/property.h"

namespace sextant::oracle {

struct Oracle {
  std::vector<Property> properties;
  std::vector<Defect> defects;
};

template <class Op>
Oracle MakeOracle();

// Several lists of properties or of defects as one: Joined<Defect>({A(), B(), {one, two}}).
template <class T>
std::vector<T> Joined(std::initializer_list<std::vector<T>> lists) {
  std::vector<T> all;
  for (const std::vector<T>& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// By name, for every operation of reference/case/operations.h; the generated defects are included.
const Oracle& OracleOf(std::string_view operation);

// "name (why)" of the defects that explain an answer, and at least twice as well as an honest one
// with its rounding errors would. `permitted` is what the answer was judged by.
std::vector<std::string> CausesOf(const Case& c, const Tensors& inputs, const Recipe& recipe,
                                  const std::vector<PermittedTensor>& permitted,
                                  const Tensors& answer);

}  // namespace sextant::oracle
