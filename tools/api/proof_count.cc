#include "tools/api/proof_count.h"

#include <cmath>

namespace sextant::tools {

ProofCount CountProofs(const std::vector<GoldenTensor>& golden) {
  ProofCount count;
  for (const GoldenTensor& g : golden) {
    for (size_t i = 0; i < g.high.data.size(); ++i) {
      // A NaN that is specified has a permitted error of 0 (golden.h).
      const bool unspecified = std::isnan(g.high.data[i]) && std::isnan(g.permitted.data[i]);
      ++(g.radius.data[i] != 0 ? count.enclosed : unspecified ? count.unspecified : count.proven);
    }
  }
  return count;
}

}  // namespace sextant::tools
