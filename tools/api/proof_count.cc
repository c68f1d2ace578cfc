#include "tools/api/proof_count.h"

#include <cmath>

namespace sextant::tools {

ProofCount CountProofs(const std::vector<GoldenTensor>& golden) {
  ProofCount count;
  for (const GoldenTensor& g : golden) {
    for (size_t i = 0; i < g.high.data.size(); ++i) {
      ++(g.radius.data[i] != 0        ? count.enclosed
         : std::isnan(g.high.data[i]) ? count.unspecified
                                      : count.proven);
    }
  }
  return count;
}

}  // namespace sextant::tools
