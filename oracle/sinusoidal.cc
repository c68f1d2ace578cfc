#include "reference/sinusoidal.h"

#include "oracle/oracle.h"

namespace sextant::oracle {

template <>
Oracle MakeOracle<Sinusoidal>() {
  return {.properties = {},
          .defects = {ChangedWord("wrong_base", "the base of another model", "base=500000")}};
}

}  // namespace sextant::oracle
