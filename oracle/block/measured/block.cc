#include "oracle/block/measured/block.h"

#include "oracle/attention/measured/attention.h"
#include "oracle/diagnosis/attributes.h"

namespace sextant::oracle {

std::vector<Explanation> MeasureBlock(const Observation& seen) {
  return FittedTo(seen, RightOf(seen),
                  AndAttributes(AttentionDeviations(seen.c, seen.inputs), seen.c, seen.inputs));
}

}  // namespace sextant::oracle
