#include "oracle/block/measured/block.h"

#include "oracle/attention/measured/attention.h"
#include "oracle/layer/measured/norm_names.h"
#include "oracle/position/measured/attributes.h"

namespace sextant::oracle {
namespace {

Deviation Eps(const Case& c) {
  const double right = NumberOf(c, "eps", 0);
  std::vector<NamedValue> likely;
  for (const Constant& eps : NamedNumbers(FreeNumber::kEps, right, ExtentOf(c, "M")))
    likely.push_back({eps.value, eps.text});
  return RealAttribute("eps", "eps is", right, std::move(likely));
}

}  // namespace

std::vector<Explanation> MeasureBlock(const Observation& seen) {
  std::vector<Deviation> deviations = AttentionDeviations(seen.c, seen.inputs);
  deviations.push_back(Eps(seen.c));
  return MeasureAttributesAnd(seen, deviations);
}

}  // namespace sextant::oracle
