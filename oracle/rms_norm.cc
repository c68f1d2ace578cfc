#include "reference/rms_norm.h"

#include "oracle/oracle.h"

namespace sextant::oracle {

template <>
Oracle MakeOracle<RmsNorm>() {
  return {.properties = {}, .defects = {ChangedWord("eps_missing", "no eps", "eps=0")}};
}

}  // namespace sextant::oracle
