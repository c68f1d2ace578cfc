#include "reference/rope_relayout.h"

#include "oracle/oracle.h"

namespace sextant::oracle {

template <>
Oracle MakeOracle<RopeRelayout>() {
  return {.properties = {},
          .defects = {ChangedWord("head_too_narrow", "the permutation of half a head", "R=2")}};
}

}  // namespace sextant::oracle
